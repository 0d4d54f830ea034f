"""A terminal as a grid of cells: as much of ECMA-48 as a full-screen program of ours writes, and no more.

What is not known is an error, so that nothing unexpected is written.
"""

import re
import unicodedata

SEQUENCE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")
STYLES = {"0": "", "1": "bold", "7": "reverse", "31": "red", "33": "yellow"}


class Screen:
    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.modes = {}  # "1049": True while the alternate screen is shown
        self.written = 0  # characters that were put somewhere
        self.styles_seen = set()
        self.style = ""
        self.rest = ""
        self.clear()

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.rows)]
        self.looks = [[""] * self.columns for _ in range(self.rows)]
        self.row = self.column = 0

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.clear()

    def feed(self, text):
        text, self.rest = self.rest + text, ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                match = SEQUENCE.match(text, at)
                if not match:
                    if len(text) - at < 16:
                        self.rest = text[at:]
                        return
                    raise AssertionError(f"not a sequence: {text[at:at + 16]!r}")
                self.obey(*match.groups())
                at = match.end()
            else:
                self.put(text[at])
                at += 1

    def obey(self, private, numbers, letter):
        if private and letter in "hl":
            self.modes[numbers] = letter == "h"
            if numbers == "1049":
                self.clear()
        elif letter == "J" and numbers == "2":
            self.clear()
        elif letter == "H":
            row, column = (int(each) for each in numbers.split(";"))
            self.row, self.column = row - 1, column - 1
            assert self.row < self.rows, "the cursor stays on the screen"
        elif letter == "K" and not numbers:
            for column in range(self.column, self.columns):
                self.cells[self.row][column], self.looks[self.row][column] = " ", ""
        elif letter == "m":
            self.style = STYLES[numbers]
            self.styles_seen.add(self.style)
        else:
            raise AssertionError(f"not expected: {private}{numbers}{letter}")

    def put(self, character):
        if character == "\r":
            self.column = 0
            return
        if character == "\n":
            self.row = min(self.row + 1, self.rows - 1)
            return
        assert character.isprintable(), f"not to be shown: {character!r}"
        width = 0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if width == 0:
            return
        assert self.column + width <= self.columns, "a line ends at the edge"
        self.cells[self.row][self.column] = character
        self.looks[self.row][self.column] = self.style
        if width == 2:
            self.cells[self.row][self.column + 1] = ""
        self.column += width
        self.written += 1

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def text(self):
        return "\n".join(self.lines())

    def reversed_lines(self):
        return [line for line, looks in zip(self.lines(), self.looks) if looks[0] == "reverse"]
