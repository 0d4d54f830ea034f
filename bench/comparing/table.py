"""Figures as text, and where they go."""

import json
import pathlib
import statistics


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def short(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(head, lines, text_columns=(0,)):
    """A Markdown table that is also aligned for the eye."""
    widths = [max(len(line[column]) for line in [head, *lines]) for column in range(len(head))]
    dashes = ["-" * width if column in text_columns else "-" * (width - 1) + ":" for column, width in enumerate(widths)]
    return "\n".join("| " + " | ".join(
        cell.ljust(width) if column in text_columns else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(line, widths))) + " |" for line in [head, dashes, *lines])


def span(values):
    return f"{short(values['min'])}–{short(values['max'])}"


def emit(options, text, figures_found):
    if options.json == "-":
        print(json.dumps(figures_found, indent=2))
        return
    print(text)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures_found, indent=2) + "\n")
