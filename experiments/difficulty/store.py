"""The study's folder on the disk.

    FOLDER/deals/VARIANT.parquet          the dataset: a row per deal
    FOLDER/seconds/VARIANT.parquet        how long it took; the same rows, not reproducible
    FOLDER/parts/VARIANT/MEASURE/0-99.parquet    what has been measured so far
    FOLDER/run.json                       the commands, with the versions they ran on

A part is a chunk of deals, measured in one way. It is written under another name, synced, and then
renamed, so whatever has a part's name is whole. The dataset is put together from parts alone, in
the order of the deals; so it is the same, byte for byte, whoever measured them and when.
"""

import fcntl
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from experiments.difficulty.errors import StudyError
from experiments.difficulty.measures import Measure
from experiments.difficulty.schema import KEYS, SECONDS, VERSION
from experiments.runs import RUN_FILE, provenance, write_json, write_whole
from yukon_env.variants import Variant

CHUNK = 100
ABOUT = b"yukon difficulty"
_ROW_GROUP = 1 << 16


def chunks_of(deals: range) -> list[range]:
    """Cuts deals into chunks that end at multiples of CHUNK, so that a longer range shares them."""
    starts = range(deals.start // CHUNK * CHUNK, deals.stop, CHUNK)
    return [range(max(s, deals.start), min(s + CHUNK, deals.stop)) for s in starts]


@dataclass(frozen=True)
class Store:
    """A folder of the study."""

    folder: Path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other commands from writing to the folder; the lock dies with the process.

        Raises:
            StudyError: Another command is writing.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise StudyError(f"another command is writing to {self.folder}") from None
            yield

    def note_command(self, **about: Any) -> None:
        """Adds this command to `run.json`."""
        path = self.folder / RUN_FILE
        commands = json.loads(path.read_text()) if path.exists() else []
        write_json(path, [*commands, provenance(**about)])

    def prepare(self, variant: Variant, measure: Measure) -> None:
        """Makes the folder of a measure, or checks that what is there was measured alike.

        Raises:
            StudyError: The parts there are of another version, or were measured otherwise.
        """
        path = self._parts(variant, measure) / "settings.json"
        settings = _plain(
            {"version": VERSION, "variant": asdict(variant), "settings": measure.settings()}
        )
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, settings)
            return
        found = json.loads(path.read_text())
        check_version(found.get("version"), path)
        if found != settings:
            raise StudyError(
                f"{path.parent} was measured with {_difference(found, settings)}; "
                "go on with that, or choose another folder"
            )

    def _parts(self, variant: Variant, measure: Measure) -> Path:
        return self.folder / "parts" / variant.key / measure.name

    def has_part(self, variant: Variant, measure: Measure, chunk: range) -> bool:
        """Whether a chunk has been measured."""
        return self._part(variant, measure, chunk).exists()

    def _part(self, variant: Variant, measure: Measure, chunk: range) -> Path:
        return self._parts(variant, measure) / f"{chunk.start}-{chunk.stop - 1}.parquet"

    def write_part(
        self, variant: Variant, measure: Measure, chunk: range, columns: dict[str, Any]
    ) -> None:
        """Keeps what was measured on a chunk, whole or not at all."""
        schema = pa.schema([column.field() for column in measure.columns])
        _write(self._part(variant, measure, chunk), pa.table(columns, schema))

    def assemble(self, variant: Variant, measures: Sequence[Measure], deals: range) -> None:
        """Puts the dataset of a variant together from its parts."""
        table = pa.table(
            {"variant": [variant.key] * len(deals), "deal": pa.array(deals)},
            pa.schema([column.field() for column in KEYS]),
        )
        for measure in measures:
            files = [self._part(variant, measure, chunk) for chunk in chunks_of(deals)]
            rows = pa.concat_tables([pq.read_table(file) for file in files])
            for field, column in zip(rows.schema, rows.columns, strict=True):
                table = table.append_column(field, column)
        about = {
            "version": VERSION,
            "variant": asdict(variant),
            "measures": {measure.name: measure.settings() for measure in measures},
        }
        table = table.replace_schema_metadata({ABOUT: json.dumps(about)})
        times = [name for name in table.column_names if name.endswith(SECONDS)]
        keys = [column.name for column in KEYS]
        _write(self.folder / "seconds" / f"{variant.key}.parquet", table.select(keys + times))
        _write(self.folder / "deals" / f"{variant.key}.parquet", table.drop_columns(times))


def _write(path: Path, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Together in one stretch of memory: how the parts were cut must not show in the file.
    whole = table.combine_chunks()
    write_whole(
        path,
        lambda file: pq.write_table(whole, file, row_group_size=_ROW_GROUP, compression="zstd"),
    )


def _plain(content: dict[str, Any]) -> dict[str, Any]:
    """As it comes back from JSON."""
    return json.loads(json.dumps(content))


def _difference(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """Names what differs between two settings, as `max_states = 1000, not 5000`."""
    pairs = [
        f"{name} = {found[group].get(name)!r}, not {value!r}"
        for group in ("variant", "settings")
        for name, value in wanted[group].items()
        if found[group].get(name) != value
    ]
    return ", ".join(pairs) or "other settings"


def check_version(version: int | None, path: Path) -> None:
    """Refuses what was written by another version.

    Raises:
        StudyError: The version is not this one's.
    """
    if version != VERSION:
        raise StudyError(
            f"{path} holds version {version} of the columns, and this program reads and writes "
            f"version {VERSION}: measure it again in another folder, or read it with the commit "
            "named in its run.json"
        )
