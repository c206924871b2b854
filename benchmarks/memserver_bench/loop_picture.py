"""The loop as a table and as a picture: how often tasks succeeded, run after run."""

from collections.abc import Sequence
from html import escape

from memserver_bench.fleet import Ran

Stretch = tuple[str, Sequence[Ran]]

WIDTH, HEIGHT = 860, 260
LEFT, RIGHT, TOP, BOTTOM = 44, 16, 26, 34
WINDOW = 50
"""Runs that one point of the line is the mean of."""
SHADES = ("#eef3f8", "#f8f3e6")


def table(stretches: Sequence[Stretch]) -> str:
    """A Markdown table, a row a phase and policy."""
    rows = ["| phase | policy | runs | success |", "|---|---|---|---|"]
    for name, ran in stretches:
        for policy in dict.fromkeys(run.policy for run in ran):
            scores = [run.score for run in ran if run.policy == policy]
            mean = sum(scores) / len(scores)
            rows.append(f"| {name} | {_short(policy)} | {len(scores)} | {mean:.3f} |")
    return "\n".join(rows)


def picture(stretches: Sequence[Stretch]) -> str:
    """An SVG: the mean success of the last WINDOW runs within each phase."""
    total = sum(len(ran) for _, ran in stretches)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="11">',
        "<title>Success rate of the fleet, run after run</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    start = 0
    for number, (name, ran) in enumerate(stretches):
        left, right = _x(start, total), _x(start + len(ran), total)
        parts.append(
            f'<rect x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" '
            f'height="{HEIGHT - TOP - BOTTOM}" fill="{SHADES[number % 2]}"/>'
        )
        # Two heights, so that the names of short phases do not run into one another.
        at = TOP - 4 if number % 2 else TOP - 15
        parts.append(f'<text x="{left + 2:.1f}" y="{at}">{escape(name)}</text>')
        parts.append(_line(ran, start, total))
        start += len(ran)
    for tenth in range(0, 11, 2):
        y = _y(tenth / 10)
        parts.append(
            f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" '
            'stroke="#bbb" stroke-width=".5"/>'
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tenth / 10:g}</text>'
        )
    parts.append(
        f'<text x="{LEFT}" y="{HEIGHT - 10}">runs, 0 to {total}; mean success of the last '
        f"{WINDOW} within each phase</text></svg>"
    )
    return "\n".join(parts) + "\n"


def _line(ran: Sequence[Ran], start: int, total: int) -> str:
    window = min(WINDOW, max(1, len(ran) // 2))
    points = []
    for end in range(window, len(ran) + 1, max(1, window // 10)):
        mean = sum(run.score for run in ran[end - window : end]) / window
        points.append(f"{_x(start + end, total):.1f},{_y(mean):.1f}")
    return (
        f'<polyline points="{" ".join(points)}" fill="none" stroke="#1f5a94" stroke-width="1.6"/>'
    )


def _x(run: int, total: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * run / max(total, 1)


def _y(rate: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * rate


def _short(policy: str) -> str:
    """A learned policy's id ends in what tells it from others."""
    return policy if len(policy) < 20 else f"learned …{policy[-6:]}"
