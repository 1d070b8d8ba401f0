# mypy: ignore-errors
"""Messages of log points, from within gdb (12 or later).

Adds the function `$_ladder_log(ID)`, which writes the message ID of `ladder_log.messages` and gives 0, and the
setting `ladder-log`, whose changes tell the machine interface what was written: `SERIAL ID MESSAGE`. The serial
number makes of each message a change. Nothing fails: a value that cannot be had is told as `<why>`.
"""

import gdb

VALUE_LIMIT = 400
MESSAGE_LIMIT = 2000
ELEMENTS = 32


class _Written(gdb.Parameter):
    """What a log point wrote last."""

    set_doc = "Set by the console: what a log point wrote last."
    show_doc = "Show what a log point wrote last."

    def __init__(self):
        super().__init__("ladder-log", gdb.COMMAND_DATA, gdb.PARAM_STRING_NOESCAPE)
        self.value = ""

    def get_set_string(self):
        return ""

    def get_show_string(self, value):
        return str(value)


class ladder_log(gdb.Function):
    """Write the message of a log point; gives 0."""

    messages = {}  # noqa: RUF012
    serial = 0

    def __init__(self):
        super().__init__("_ladder_log")

    def invoke(self, number):
        """Write it, and tell of it."""
        try:
            number = int(number)
            text = "".join(_shown(piece) for piece in self.messages.get(number, ()))[:MESSAGE_LIMIT]
            text = text.replace("\r", "\\r").replace("\n", "\\n")
            gdb.write(text + "\n")
            ladder_log.serial += 1
            gdb.execute(f"set ladder-log {self.serial} {number} {text}", to_string=True)
        except Exception:
            # What got out of here would leave the target standing without a word.
            pass
        return 0


def _shown(piece):
    text, is_value, form = piece
    if not is_value:
        return text
    try:
        value = gdb.parse_and_eval(text)
        if form and form[-1] != "V":
            return gdb.execute(f'printf "{form}", {text}', to_string=True)
        shown = value.format_string(max_elements=ELEMENTS, repeat_threshold=10, pretty_structs=False)
    except (gdb.error, RuntimeError, ValueError, OverflowError) as error:
        return f"<{error}>"
    address, quote, rest = shown.partition(' "')
    if quote and address.startswith("0x"):
        # A string is its text; where it lies says nothing in a log.
        shown = '"' + rest
    return shown if len(shown) <= VALUE_LIMIT else shown[: VALUE_LIMIT - 1] + "..."


_Written()
ladder_log()
