"""The stage `check_gate`: does an experiment keep the limits its file sets?

A gate is made for continuous integration: it turns "the probabilities have become worse" into an exit
code. It reads metrics that are there already and measures nothing itself. A limit that finds nothing
to check, or a number without a value, is a failed check: a gate that passes because nothing was
measured would be worse than none.

An ECE is held against its null band, never against zero: the excess over the band's 95 % quantile. By
that rule alone one perfect model in twenty lies a little outside; with `beyond_chance` an excess
counts only where it also lies beyond the 99.9 % quantile.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

Metrics = Mapping[str, float | None]
INSIDE = "0_outside"
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Check:
    """One limit, held against one number.

    Attributes
    ----------
    limit : name of the limit, such as `ece_excess`.
    where : path of the metric it was read from.
    measured : the number; None if it has no value.
    bound : the number it may at most (or with `at_least` must at least) be.
    passed : whether it does.
    by : how far beyond the bound it lies; negative where there is room left, None without a value.
    reason : what a person should know; empty where the numbers say it all.
    """

    limit: str
    where: str
    measured: float | None
    bound: float
    passed: bool
    by: float | None
    reason: str = ""

    def sentence(self) -> str:
        """The check in one line."""
        verdict = "passed" if self.passed else "FAILED"
        if self.measured is None or self.by is None:
            return f"{verdict}  {self.limit}  {self.where}: {self.reason}"
        side = f"by {self.by:.6g}" if self.by > 0.0 else f"{-self.by:.6g} to spare"
        said = f"{verdict}  {self.limit}  {self.where}: {self.measured:.6g}, limit {self.bound:.6g}"
        return f"{said}, {side}" + (f" ({self.reason})" if self.reason else "")


def check_gate(
    limits: Mapping[str, Any],
    metrics: Metrics,
    *,
    undefined: Mapping[str, str] | None = None,
    earlier: Metrics | None = None,
) -> list[Check]:
    """Hold an experiment's metrics against its limits.

    Parameters
    ----------
    limits : the section `gate` after defaults; a limit that is None is not checked.
    metrics : metric path to number or None, as in `metrics.json`.
    undefined : metric path to the reason why it has no value.
    earlier : metrics of the record that `auc_drop` names, by the same paths.

    Returns
    -------
    list of Check
        At least one a limit, failed ones first.
    """
    reading = _Reading(limits, metrics, undefined or {})
    checks: list[Check] = []
    if limits.get("ece_excess") is not None:
        checks += _ece_excess(reading)
    if limits.get("debiased_rms_upper") is not None:
        paths = reading.evaluated("debiased_rms/upper")
        checks += reading.at_most("debiased_rms_upper", paths, limits["debiased_rms_upper"])
    for name, read in (("step_leak", _leak), ("step_leak_upper", _leak_upper)):
        if limits.get(name) is not None:
            checks += _step_leaks(reading, name, read)
    if limits.get("auc_drop") is not None:
        checks += _auc_drops(reading, limits["auc_drop"], earlier or {})
    for path, bound in (limits.get("metrics") or {}).items():
        checks += _own_bound(reading, path, bound)
    return sorted(checks, key=lambda check: check.passed)


def gate_summary(checks: Sequence[Check]) -> dict[str, Any]:
    """The content of `gate.json`: whether all passed, how many failed, and every check."""
    failed = sum(not check.passed for check in checks)
    return {"passed": not failed, "failed": failed, "checks": [asdict(check) for check in checks]}


class _Reading:
    """The metrics, and which of them a gate's filters let through."""

    def __init__(self, limits: Mapping[str, Any], metrics: Metrics, undefined: Mapping[str, str]):
        self.limits = limits
        self.metrics = metrics
        self._undefined = undefined

    def value(self, path: str) -> float | None:
        """A finite number, or None."""
        found = self.metrics.get(path)
        return float(found) if found is not None and math.isfinite(found) else None

    def evaluated(self, ending: str) -> list[str]:
        """Paths `evaluate/<model>/<calibrator>/<part>/<bins>/<ending>`."""
        filters = ("models", "calibrators", "parts", "bins")
        return list(self._paths("evaluate", ending, filters))

    def scores(self, ending: str) -> list[str]:
        """Paths `evaluate/<model>/<calibrator>/<part>/<ending>`."""
        return list(self._paths("evaluate", ending, ("models", "calibrators", "parts")))

    def leaks(self) -> list[str]:
        """Paths `measure_leak/<model>/<rung>/<metric>` of rungs with anything outside the folds."""
        found = self._paths("measure_leak", "leak", ("models", "", "leak_metrics"))
        paths = [path.removesuffix("/leak") for path in found]
        return [path for path in paths if path.split("/")[2] != INSIDE]

    def _paths(self, rule: str, ending: str, filters: Sequence[str]) -> Iterator[str]:
        """Metric paths of a rule with one part a filter before the ending."""
        for path in sorted({*self.metrics, *self._undefined}):
            if not (path.startswith(f"{rule}/") and path.endswith(f"/{ending}")):
                continue
            parts = path.removesuffix(f"/{ending}").split("/")[1:]
            if len(parts) == len(filters) and all(
                self.limits.get(name) is None or part in self.limits[name]
                for name, part in zip(filters, parts, strict=True)
            ):
                yield path

    def at_most(self, limit: str, paths: Sequence[str], bound: float) -> list[Check]:
        """One check a path."""
        if not paths:
            return [self.nothing(limit, bound)]
        return [self.check(limit, path, self.value(path), bound) for path in paths]

    def check(
        self, limit: str, path: str, measured: float | None, bound: float, reason: str = ""
    ) -> Check:
        """A number that may at most be the bound."""
        if measured is None:
            why = self._undefined.get(path, "it has no value")
            return Check(limit, path, None, bound, False, None, why)
        by = measured - bound
        return Check(limit, path, measured, bound, by <= _ROUNDING, by, reason)

    def nothing(self, limit: str, bound: float, where: str = "") -> Check:
        """The failed check of a limit that applies to nothing."""
        reason = "nothing was measured that this limit applies to"
        return Check(limit, where, None, bound, False, None, reason)


def _ece_excess(reading: _Reading) -> list[Check]:
    given = float(reading.limits["ece_excess"])
    paths = reading.evaluated("ece_excess")
    if not paths:
        return [reading.nothing("ece_excess", given)]
    checks = []
    for path in paths:
        bound, reason = given, ""
        if reading.limits.get("beyond_chance"):
            band = path.removesuffix("ece_excess") + "null_band/"
            upper, extreme = reading.value(f"{band}upper"), reading.value(f"{band}extreme")
            if upper is not None and extreme is not None and extreme - upper > given:
                bound = extreme - upper
                reason = f"raised from {given:g}: a perfect model reaches it in 1 of 1,000 samples"
        checks.append(reading.check("ece_excess", path, reading.value(path), bound, reason))
    return checks


def _step_leaks(reading: _Reading, limit: str, read: Any) -> list[Check]:
    bound = float(reading.limits[limit])
    paths = reading.leaks()
    if not paths:
        return [reading.nothing(limit, bound)]
    checks = []
    for path in paths:
        where, size = read(reading, path)
        checks.append(reading.check(limit, where, size, bound))
    return checks


def _leak(reading: _Reading, path: str) -> tuple[str, float | None]:
    """The size of a leak, whichever its sign."""
    value = reading.value(f"{path}/leak")
    return f"{path}/leak", None if value is None else abs(value)


def _leak_upper(reading: _Reading, path: str) -> tuple[str, float | None]:
    """The end of a leak's corrected interval that lies further from zero."""
    where = f"{path}/leak_corrected_high"
    low = reading.value(f"{path}/leak_corrected_low")
    high = reading.value(f"{path}/leak_corrected_high")
    if low is not None and high is not None:
        return where, max(abs(low), abs(high))
    # Folds that all differ by the same leave no interval to doubt their leak with.
    folds, spread = reading.value(f"{path}/leak_folds"), reading.value(f"{path}/leak_spread")
    if folds is not None and folds >= 2 and spread is not None and spread <= _ROUNDING:
        return where, _leak(reading, path)[1]
    return where, None


def _auc_drops(reading: _Reading, limit: Mapping[str, Any], earlier: Metrics) -> list[Check]:
    """Each ROC AUC that the earlier record has, too."""
    bound = float(limit["limit"])
    checks = []
    for path in reading.scores("roc_auc"):
        before = earlier.get(path)
        if before is None:
            continue
        now = reading.value(path)
        drop = None if now is None else before - now
        checks.append(reading.check("auc_drop", path, drop, bound, f"it was {before:.6g}"))
    return checks or [reading.nothing("auc_drop", bound, str(limit["against"]))]


def _own_bound(reading: _Reading, pattern: str, bound: Mapping[str, Any]) -> list[Check]:
    """A bound on every metric whose path the pattern matches, `*` for any one part of it."""
    known = {*reading.metrics}
    paths = [pattern] if pattern in known else sorted(p for p in known if _matches(p, pattern))
    checks = []
    for side, sign in (("at_most", 1.0), ("at_least", -1.0)):
        limit = bound.get(side)
        if limit is None:
            continue
        if not paths:
            checks.append(reading.nothing(f"metrics/{side}", float(limit), pattern))
        for path in paths:
            value = reading.value(path)
            signed = None if value is None else sign * value
            found = reading.check(f"metrics/{side}", path, signed, sign * float(limit))
            checks.append(
                Check(found.limit, path, value, float(limit), found.passed, found.by, found.reason)
            )
    return checks


def _matches(path: str, pattern: str) -> bool:
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def earlier_metrics(content: Mapping[str, Any]) -> dict[str, float | None]:
    """Metrics by their paths from an earlier `metrics.json`, or from one `record.json`."""
    if "rule" not in content:
        return dict(content)
    prefix = "/".join([content["rule"], *content["subject"].values()])
    return {f"{prefix}/{name}": value for name, value in content["metrics"].items()}


def gate_text(gates: Mapping[str, Mapping[str, Any]]) -> tuple[str, int]:
    """All gates as people read them, and how many checks failed.

    Parameters
    ----------
    gates : experiment to the content of its `gate.json`.
    """
    if not gates:
        return "no experiment has a section `gate`", 0
    lines = []
    for name, gate in gates.items():
        count = len(gate["checks"])
        lines.append(f"{name}: {count - gate['failed']} of {count} checks passed")
        lines += [f"  {Check(**check).sentence()}" for check in gate["checks"]]
    return "\n".join(lines), sum(gate["failed"] for gate in gates.values())
