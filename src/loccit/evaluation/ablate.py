"""Ablation: which variants are measured, and how each differs from the first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from loccit.config.settings import MODES, STAGES
from loccit.errors import UsageError
from loccit.evaluation.runs import Compared, Run, SetRun, Variant
from loccit.evaluation.significance import Difference, compare


class Way(NamedTuple):
    """A variant: a mode, and the stages switched off in addition to the settings."""

    name: str
    mode: str
    disabled: tuple[str, ...] = ()


def ways(modes: Sequence[str], *, ablate: bool, disabled: Sequence[str] = ()) -> list[Way]:
    """Return the variants: the modes, hybrid first; with ablation, each stage off in turn and each mode alone.

    ``disabled`` are stages that are already off.
    """
    unknown = [mode for mode in modes if mode not in (*MODES, "all")]
    if unknown:
        raise UsageError(f"Unknown mode {', '.join(unknown)}; available: {', '.join(MODES)} and all.")
    wanted = list(dict.fromkeys(modes)) or [MODES[0]]
    if "all" in wanted or ablate:
        wanted = [*(mode for mode in wanted if mode != "all" and mode in MODES), *MODES]
    # The whole search comes first: it is what the others are compared with.
    ordered = sorted(dict.fromkeys(wanted), key=lambda mode: mode != MODES[0])
    if not ablate:
        return [Way(mode, mode) for mode in ordered]
    whole = Way(ordered[0], ordered[0])
    without = [Way(f"without {stage}", whole.mode, (stage,)) for stage in STAGES if stage not in disabled]
    return [whole, *without, *(Way(mode, mode) for mode in ordered[1:])]


def differences(main: str, variants: Sequence[Variant]) -> dict[str, Difference]:
    """Compare each variant with the first, by name."""
    return {
        variant.name: paired(main, variants[0].values(main), variant.values(main)) for variant in variants[1:]
    }


def paired(metric: str, before: dict[str, float], after: dict[str, float]) -> Difference:
    """Compare the questions that both have."""
    both = [name for name in before if name in after]
    return compare(metric, [before[name] for name in both], [after[name] for name in both])


def compare_runs(before: Run, now: Run, where: str) -> list[Compared]:
    """Compare what two runs have in common; an error if that is nothing."""
    old = {(one.name, one.kind): one for one in before.sets}
    found = []
    for one in now.sets:
        other = old.get((one.name, one.kind))
        if other:
            found += list(_compare_sets(other, one))
    if not found:
        raise UsageError(
            f"{where} has no set, mode and question in common with this run: it holds "
            f"{_listed(one.name for one in before.sets)}, this run {_listed(one.name for one in now.sets)}."
        )
    return found


def _compare_sets(before: SetRun, now: SetRun) -> Iterable[Compared]:
    earlier = {variant.name: variant for variant in before.variants}
    for variant in now.variants:
        other = earlier.get(variant.name)
        if other is None:
            continue
        old, new = {query.id for query in other.queries}, {query.id for query in variant.queries}
        measured = [name for name in variant.queries[0].values if name in other.queries[0].values]
        if not old & new or not measured:
            continue
        yield Compared(
            set=now.name,
            variant=variant.name,
            main=now.main,
            differences={
                metric: paired(metric, other.values(metric), variant.values(metric)) for metric in measured
            },
            only_before=len(old - new),
            only_now=len(new - old),
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
