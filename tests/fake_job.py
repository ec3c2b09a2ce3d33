"""What Snakemake gives to a script, for tests of what a script's job does with it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Items:
    """Named items: one path or several under a name, all of them in order when iterated."""

    def __init__(self, **named: Any) -> None:
        self._named = {name: value for name, value in named.items() if value is not None}

    def __getitem__(self, name: str) -> Any:
        return self._named[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_named"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __iter__(self) -> Iterator[str]:
        for value in self._named.values():
            yield from [value] if isinstance(value, str) else value

    def get(self, name: str, default: Any = None) -> Any:
        return self._named.get(name, default)

    def items(self) -> Any:
        return self._named.items()


class FakeSnakemake:
    """The object `snakemake` of one job of the experiment `trivia`, with files below `root`."""

    def __init__(
        self,
        root: Path,
        rule: str = "evaluate",
        *,
        subject: dict[str, str] | None = None,
        inputs: dict[str, Any] | None = None,
        outputs: dict[str, str] | None = None,
        params: dict[str, Any] | None = None,
    ) -> None:
        subject = {"model": "linear", "calibrator": "none"} if subject is None else subject
        where = Path("trivia", rule, *subject.values())
        folder = root / "results" / where
        names = {"record": "record.json"} | (outputs or {})
        self.rule = rule
        self.wildcards = Items(experiment="trivia", **subject)
        self.input = Items(**(inputs or {}))
        self.output = Items(**{name: str(folder / file) for name, file in names.items()})
        self.params = Items(**(params or {}))
        self.log = [str(root / "logs" / where.with_suffix(".log"))]
