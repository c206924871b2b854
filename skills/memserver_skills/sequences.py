"""How alike two sequences of steps are, and the sequence that agrees best with many."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

Lines = tuple[str, ...]

# The pool from which a consensus may take lines, and how often it may be changed. Both bound the
# work on long runs; a consensus of short runs settles long before.
POOL = 24
ROUNDS = 24
REFERENCES = 48


def common_length(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest common subsequence, bit-parallel (Hyyrö 2004, "Bit-parallel LCS-length
    computation revisited"): one addition of big integers per element of `right`."""
    where: dict[str, int] = {}
    for position, line in enumerate(left):
        where[line] = where.get(line, 0) | 1 << position
    full = (1 << len(left)) - 1
    row = full
    for line in right:
        hit = row & where.get(line, 0)
        row = ((row + hit) | (row - hit)) & full
    return len(left) - row.bit_count()


def agreement(left: Sequence[str], right: Sequence[str]) -> float:
    """2·LCS / (lengths): the F1 of the steps times the share of the matches in common order."""
    if not left and not right:
        return 1.0
    return 2 * common_length(left, right) / (len(left) + len(right))


def mean_agreement(lines: Sequence[str], runs: Sequence[Lines]) -> float:
    return fmean(agreement(lines, run) for run in runs)


def spread(runs: Sequence[Lines], limit: int) -> tuple[Lines, ...]:
    """At most `limit` of the runs, evenly spaced over their sorted order, so that the choice does
    not depend on the order in which they came."""
    ordered = sorted(runs)
    if len(ordered) <= limit:
        return tuple(ordered)
    return tuple(ordered[position * len(ordered) // limit] for position in range(limit))


def consensus(runs: Sequence[Lines]) -> Lines:
    """The sequence that agrees best with the runs on average.

    Starts from the medoid (the run that agrees best with the others) and takes the best single
    deletion, insertion or replacement until none helps: minimum Bayes risk over the runs seen.
    Of three or more runs, lines that only one holds are left out: they are its own affair.
    Deterministic, independent of the order of `runs`.
    """
    references = spread(runs, REFERENCES)
    best = max(sorted(set(references)), key=lambda run: mean_agreement(run, references))
    if len(references) > 2:
        held = Counter(line for run in references for line in set(run))
        best = tuple(line for line in best if held[line] > 1) or best
    score = mean_agreement(best, references)
    pool = _pool(references)
    for _ in range(ROUNDS):
        challenger, challenge = best, score
        for edited in _edits(best, pool):
            value = mean_agreement(edited, references)
            if value > challenge + 1e-9:
                challenger, challenge = edited, value
        if challenger == best:
            break
        best, score = challenger, challenge
    return best


def _pool(runs: Sequence[Lines]) -> Lines:
    """The lines that most runs hold; a line of one run among many cannot help the average."""
    held = Counter(line for run in runs for line in set(run))
    needed = max(2, len(runs) // 10)
    common = [(-count, line) for line, count in held.items() if count >= needed]
    return tuple(line for _, line in sorted(common)[:POOL])


def _edits(lines: Lines, pool: Lines) -> Sequence[Lines]:
    edits: list[Lines] = []
    for position in range(len(lines)):
        if len(lines) > 1:
            edits.append(lines[:position] + lines[position + 1 :])
        edits.extend(
            (*lines[:position], line, *lines[position + 1 :])
            for line in pool
            if line != lines[position]
        )
    for position in range(len(lines) + 1):
        edits.extend((*lines[:position], line, *lines[position:]) for line in pool)
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
