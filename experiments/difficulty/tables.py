"""Reads the dataset: for the analyses, and for whoever asks which deals can be won."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.difficulty.errors import StudyError
from experiments.difficulty.store import ABOUT, check_version
from yukon_env.deals import SPLITS
from yukon_env.solver import Verdict
from yukon_env.stats import wilson_interval
from yukon_env.variants import Variant


@dataclass(frozen=True)
class Verdicts:
    """What the solver said of deals.

    Attributes:
        deals: int64, shape (n,), rising.
        winnable: bool, shape (n,).
        undecided: bool, shape (n,).
        states: int64, shape (n,): positions that the solver visited.
    """

    deals: np.ndarray
    winnable: np.ndarray
    undecided: np.ndarray
    states: np.ndarray

    def where(self, rows: np.ndarray) -> "Verdicts":
        """Some of the rows, as NumPy chooses them."""
        return Verdicts(
            self.deals[rows], self.winnable[rows], self.undecided[rows], self.states[rows]
        )

    def of_deals(self, deals: np.ndarray) -> "Verdicts":
        """The verdicts of these deals, in their order.

        Raises:
            StudyError: One of the deals was not measured.
        """
        rows = np.searchsorted(self.deals, deals).clip(max=len(self.deals) - 1)
        missing = np.asarray(deals)[self.deals[rows] != deals]
        if missing.size:
            raise StudyError(f"there is no verdict for deal {missing[0]}: measure it first")
        return self.where(rows)

    def share_won(self, won: np.ndarray) -> tuple[float, float, float, float] | None:
        """The share that an agent won of the deals that can be won.

        An undecided deal that the agent won can be won; one that it lost is counted both ways.

        Args:
            won: bool, shape (n,): what the agent won of these deals.

        Returns:
            The least and the most that the share can be, and a 95 % interval: the lower end of
            Wilson's at the least, the upper end at the most. None if there is no deal to win.
        """
        wins = int(won.sum())
        at_most = int((self.winnable | self.undecided).sum())
        at_least = int((self.winnable | (self.undecided & won)).sum())
        if at_least == 0:
            return None
        low, high = wilson_interval(wins, at_most)[0], wilson_interval(wins, at_least)[1]
        return wins / at_most, wins / at_least, low, high


@dataclass(frozen=True)
class Deals:
    """The measured deals of one variant.

    Attributes:
        variant: The game.
        agents: The name of each agent, by the label of its columns.
        max_states: Positions that the solver might visit on a deal.
        table: The rows, in the order of the deals.
    """

    variant: Variant
    agents: dict[str, str]
    max_states: int
    table: pa.Table

    def column(self, name: str) -> np.ndarray:
        """One column; NaN (then the column is of floats) or None where it is null.

        Raises:
            StudyError: It is not in this dataset.
        """
        if name not in self.table.column_names:
            raise StudyError(f"{self.variant.key} was measured without {name}")
        return self.table[name].to_numpy()

    @property
    def deals(self) -> np.ndarray:
        """int64, shape (n,): the deal numbers."""
        return self.column("deal")

    @property
    def verdicts(self) -> Verdicts:
        """What the solver said."""
        said = self.column("solver_verdict")
        return Verdicts(
            self.deals,
            said == Verdict.WINNABLE,
            said == Verdict.UNKNOWN,
            self.column("solver_states"),
        )

    def of_test(self) -> "Deals":
        """Only the test deals: agents may have been trained on others."""
        test = SPLITS["test"]
        rows = self.table.filter(pa.array((self.deals >= test.start) & (self.deals < test.stop)))
        if len(rows) == 0:
            raise StudyError(f"{self.variant.key} was not measured on test deals")
        return Deals(self.variant, self.agents, self.max_states, rows)


def read_folders(folders: Sequence[Path]) -> dict[str, Deals]:
    """Reads the datasets of some folders; of a variant in several, the first counts.

    Raises:
        StudyError: A folder holds no dataset, or one of another version.
    """
    found: dict[str, Deals] = {}
    for folder in folders:
        files = sorted((folder / "deals").glob("*.parquet"))
        if not files:
            raise StudyError(f"{folder} holds no dataset: there is no {folder}/deals/*.parquet")
        for file in files:
            deals = read_file(file)
            found.setdefault(deals.variant.key, deals)
    return found


def read_file(path: Path) -> Deals:
    """Reads the dataset of one variant, `deals/VARIANT.parquet`.

    Raises:
        StudyError: It is none, it is of another version, or it contradicts itself.
    """
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise StudyError(f"{path} cannot be read: {error}") from error
    about = json.loads((table.schema.metadata or {}).get(ABOUT, b"{}"))
    if not about:
        raise StudyError(f"{path} was not written by experiments.difficulty")
    check_version(about["version"], path)
    measures: dict[str, dict[str, Any]] = about["measures"]
    agents = {m["label"]: m["agent"] for m in measures.values() if "agent" in m}
    variant = Variant(**about["variant"])
    deals = Deals(variant, agents, measures["solver"]["max_states"], table)
    _check_truth(deals)
    return deals


def _check_truth(deals: Deals) -> None:
    """Checks that nobody won what the solver says cannot be won.

    Raises:
        StudyError: Somebody did; then the solver is wrong.
    """
    lost = deals.column("solver_verdict") == Verdict.UNWINNABLE
    for label in deals.agents:
        wonders = deals.deals[lost & deals.column(f"{label}_won")]
        if wonders.size:
            raise StudyError(
                f"{deals.variant.key}: {label} won deal {wonders[0]}, which the solver says cannot "
                "be won"
            )


def read_verdicts(path: Path, variant: Variant) -> Verdicts:
    """Reads what the solver said of the deals of a variant.

    Args:
        path: A folder of the study, or one of its `deals/VARIANT.parquet`.
        variant: The game.

    Raises:
        StudyError: There is no such table, or it is of another variant.
    """
    file = path / "deals" / f"{variant.key}.parquet" if path.is_dir() else path
    deals = read_file(file)
    if deals.variant != variant:
        raise StudyError(f"{file} is about {deals.variant.key}, not {variant.key} as it is now")
    return deals.verdicts
