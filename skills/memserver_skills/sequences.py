"""How alike two sequences of steps are, and the sequence that agrees best with many."""

from collections import Counter
from collections.abc import Sequence

Lines = tuple[str, ...]

# The pool from which a consensus may take lines, how often it is gone through, and with how many
# runs it is compared: bounds on the work for many long runs; short ones settle long before.
POOL = 24
PASSES = 4
REFERENCES = 32


class Reference:
    """A sequence prepared for many comparisons.

    The length of a longest common subsequence is computed bit-parallel (Hyyrö 2004, "Bit-parallel
    LCS-length computation revisited"): one addition of big integers per element compared.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._length = len(lines)
        self._full = (1 << len(lines)) - 1
        self._where: dict[str, int] = {}
        for position, line in enumerate(lines):
            self._where[line] = self._where.get(line, 0) | 1 << position

    def common_length(self, lines: Sequence[str]) -> int:
        row = full = self._full
        for line in lines:
            hit = row & self._where.get(line, 0)
            if hit:
                row = ((row + hit) | (row - hit)) & full
        return self._length - row.bit_count()

    def agreement(self, lines: Sequence[str]) -> float:
        """2·LCS / (lengths): the F1 of the steps times the share of the matches in common order."""
        total = self._length + len(lines)
        return 2 * self.common_length(lines) / total if total else 1.0


def common_length(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest common subsequence."""
    return Reference(left).common_length(right)


def agreement(left: Sequence[str], right: Sequence[str]) -> float:
    return Reference(left).agreement(right)


def mean_agreement(lines: Sequence[str], runs: Sequence[Reference]) -> float:
    return sum(run.agreement(lines) for run in runs) / len(runs)


def common_start(left: Sequence[str], right: Sequence[str]) -> int:
    """How many lines the two have in common from the start."""
    for position, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return position
    return min(len(left), len(right))


def spread(runs: Sequence[Lines], limit: int) -> tuple[Lines, ...]:
    """At most `limit` of the runs, evenly spaced over their sorted order, so that the choice does
    not depend on the order in which they came."""
    ordered = sorted(runs)
    if len(ordered) <= limit:
        return tuple(ordered)
    return tuple(ordered[position * len(ordered) // limit] for position in range(limit))


def consensus(runs: Sequence[Lines]) -> Lines:
    """The sequence that agrees best with the runs on average.

    Starts from the medoid (the run that agrees best with the others) and goes through its places,
    making the best single deletion, insertion or replacement there while one helps: minimum
    Bayes risk over the runs seen.
    Of three or more runs, lines that only one holds are left out: they are its own affair.
    Deterministic, independent of the order of `runs`.
    """
    chosen = spread(runs, REFERENCES)
    references = [Reference(run) for run in chosen]
    best = max(sorted(set(chosen)), key=lambda run: mean_agreement(run, references))
    if len(chosen) > 2:
        held = Counter(line for run in chosen for line in set(run))
        best = tuple(line for line in best if held[line] > 1) or best
    score = mean_agreement(best, references)
    pool = _pool(chosen)
    for _ in range(PASSES):
        start, position = score, 0
        while position <= len(best):
            edits = [
                (mean_agreement(edit, references), edit) for edit in _edits(best, position, pool)
            ]
            value, edited = max(edits, default=(0.0, best), key=lambda pair: pair[0])
            if value > score + 1e-9:
                best, score = edited, value
            else:
                position += 1
        if score == start:
            break
    return best


def _pool(runs: Sequence[Lines]) -> Lines:
    """The lines that most runs hold; a line of one run among many cannot help the average."""
    held = Counter(line for run in runs for line in set(run))
    needed = max(2, len(runs) // 10)
    common = [(-count, line) for line, count in held.items() if count >= needed]
    return tuple(line for _, line in sorted(common)[:POOL])


def _edits(lines: Lines, position: int, pool: Lines) -> list[Lines]:
    """The sequences that differ from `lines` by one deletion, replacement or insertion there."""
    before, after = lines[:position], lines[position:]
    edits = [(*before, line, *after) for line in pool]
    if after and len(lines) > 1:
        edits.append(before + after[1:])
    if after:
        edits.extend((*before, line, *after[1:]) for line in pool if line != after[0])
    return edits


def aligned(lines: Sequence[str], run: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """One longest common subsequence as pairs (position in `lines`, position in `run`)."""
    rows = [[0] * (len(run) + 1) for _ in range(len(lines) + 1)]
    for i in range(len(lines) - 1, -1, -1):
        for j in range(len(run) - 1, -1, -1):
            if lines[i] == run[j]:
                rows[i][j] = rows[i + 1][j + 1] + 1
            else:
                rows[i][j] = max(rows[i + 1][j], rows[i][j + 1])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(lines) and j < len(run):
        if lines[i] == run[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif rows[i + 1][j] >= rows[i][j + 1]:
            i += 1
        else:
            j += 1
    return tuple(pairs)
