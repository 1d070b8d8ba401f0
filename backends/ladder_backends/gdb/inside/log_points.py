# mypy: ignore-errors
"""Messages of log points, from within gdb (12 or later).

Adds the function `$_ladder_log(ID)`, which writes the message ID of `ladder_log.messages` and gives 0, and the
setting `ladder-log`, whose changes tell the machine interface what was written: `SERIAL ID MESSAGE`, with more of
`ID MESSAGE` behind it, each after a unit separator. The serial number makes of each a change. Nothing fails: a
value that cannot be had is told as `<why>`.

The engine writes to the machine interface byte by byte: messages that come fast are told together, after `PAUSE`,
or where the target stops or ends.
"""

import signal
import threading
import time

import gdb

VALUE_LIMIT = 400
MESSAGE_LIMIT = 2000
ELEMENTS = 32
PAUSE = 0.02
MOST_WAITING = 16384
SEPARATOR = "\x1f"
_OF_THE_ENGINE = (signal.SIGINT, signal.SIGCHLD, signal.SIGALRM, signal.SIGWINCH, signal.SIGTERM, signal.SIGHUP)


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
            text = text.replace("\r", "\\r").replace("\n", "\\n").replace(SEPARATOR, " ")
            gdb.write(text + "\n")
            _Waiting.add(number, text)
        except Exception:
            # What got out of here would leave the target standing without a word.
            pass
        return 0


class _Waiting:
    """Messages that were not told yet."""

    messages = []  # noqa: RUF012
    size = 0
    told = 0.0
    wake = threading.Event()

    @classmethod
    def add(cls, number, text):
        """Tell it now where none was told lately, else with those that follow it."""
        cls.messages.append((number, text))
        cls.size += len(text)
        if cls.size > MOST_WAITING or time.monotonic() - cls.told > PAUSE:
            cls.tell()
        elif len(cls.messages) == 1:
            cls.wake.set()

    @classmethod
    def tell(cls, *_):
        """Tell of them all."""
        waiting, cls.messages, cls.size = cls.messages, [], 0
        if not waiting:
            return
        ladder_log.serial += 1
        told = SEPARATOR.join(f"{number} {text}" for number, text in waiting)
        # What is captured by `to_string` may be the notice: that of the terminal spoken to last.
        gdb.execute(f"set ladder-log {ladder_log.serial} {told}")
        cls.told = time.monotonic()

    @classmethod
    def tell_later(cls):
        """Have what waits told soon, though no other message comes; runs in a thread of its own."""
        while True:
            cls.wake.wait()
            cls.wake.clear()
            time.sleep(PAUSE)
            gdb.post_event(cls.tell)

    @classmethod
    def begin(cls):
        """Listen for stops, and start the thread, deaf to signals that are the engine's."""
        for events in (gdb.events.stop, gdb.events.exited, gdb.events.before_prompt):
            events.connect(cls.tell)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_THE_ENGINE)
        try:
            threading.Thread(target=cls.tell_later, daemon=True).start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
_Waiting.begin()
