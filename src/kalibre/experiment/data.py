"""The section `data`: where the rows come from, and what each column is for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kalibre.experiment.base import Block, Name, NotBoolean

SUBSCRIBER_COLUMNS = (
    "mean_consumption",
    "volatility",
    "household",
    "satisfaction",
    "periods",
    "zero_reading",
    "per_person",
    "region_north",
    "region_south",
    "region_east",
    "region_west",
    "region_centre",
)


class Subscribers(Block):
    """The lessons' synthetic subscribers; the label says which of them are suspicious."""

    source: Literal["subscribers"]
    seed: Annotated[int, NotBoolean, Field(ge=0, lt=2**32)] = Field(
        20260218, description="Seed of every stream of the generator."
    )
    candidates: Annotated[int, NotBoolean, Field(ge=1, le=10_000_000)] = Field(
        1400,
        description="Subscribers drawn before those without a record or a reading are dropped.",
    )
    columns: list[str] = Field(
        list(SUBSCRIBER_COLUMNS),
        min_length=1,
        description="Columns the models learn from, in order.",
    )


class Biopsies(Block):
    """The breast-cancer biopsies that scikit-learn ships; the label says which are malignant."""

    source: Literal["biopsies"]
    columns: list[str] = Field(
        [
            "mean_radius",
            "mean_texture",
            "mean_perimeter",
            "mean_area",
            "mean_smoothness",
            "mean_compactness",
            "mean_concavity",
            "mean_concave_points",
            "mean_symmetry",
            "mean_fractal_dimension",
        ],
        min_length=1,
        description="Measurements the models learn from, in order.",
    )


Probability = Annotated[float, NotBoolean, Field(ge=0, le=1, allow_inf_nan=False)]
Logit = Annotated[float, NotBoolean, Field(allow_inf_nan=False)]
Outcome = Annotated[int, NotBoolean, Field(ge=0, le=1)]


class InlineModel(Block):
    """One model's predictions, written in the experiment file."""

    probability: list[Probability] | None = Field(
        None, min_length=1, description="Probability of the positive outcome, one a row."
    )
    logit: list[Logit] | None = Field(
        None, min_length=1, description="The same on the logit scale, instead of `probability`."
    )
    outcome: list[Outcome] = Field(min_length=1, description="What happened: 1 or 0, one a row.")

    @model_validator(mode="after")
    def _one_score_a_row(self) -> InlineModel:
        if (self.probability is None) == (self.logit is None):
            raise ValueError("give either `probability` or `logit`")
        name = "logit" if self.probability is None else "probability"
        score = self.probability or self.logit or []
        if len(score) != len(self.outcome):
            raise ValueError(
                f"`{name}` has {len(score)} values and `outcome` has {len(self.outcome)}; "
                "they go together, one a row"
            )
        return self


class Predictions(Block):
    """Probabilities that exist already: nothing is fitted."""

    source: Literal["predictions"]
    inline: dict[Name, InlineModel] = Field(
        min_length=1, description="Each model's probabilities and outcomes."
    )

    def model_names(self) -> list[str]:
        """The models whose predictions these are."""
        return sorted(self.inline)


Data = Annotated[Subscribers | Biopsies | Predictions, Field(discriminator="source")]
