"""A chat in a real terminal (tmux), for the tests that type into it."""
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from terminal import Terminal, check  # noqa: E402

PROMPT = "›"


class Chat(Terminal):
    """A chat in a terminal."""

    def __init__(self, folder, bough, command="bough chat", **environment):
        super().__init__(folder, bough, width=100, height=40, **environment)
        self.type(f"mkdir -p {folder}/place; cd {folder}/place; clear; {command}")
        self.ready()

    def ready(self):
        """The screen, once the REPL waits for a line."""
        return self.wait(lambda screen: self.last(screen) == PROMPT)

    @staticmethod
    def last(screen):
        lines = [line for line in screen.splitlines() if line.strip()]
        return lines[-1].strip() if lines else ""

    def key(self, *names):
        self.tmux("send-keys", *names)

    def say(self, text):
        self.type(text, enter=False)
        self.wait(lambda screen: self.last(screen) == f"{PROMPT} {text}")
        self.key("Enter")
        return self.ready()


def run(tests):
    """Runs the functions named test_… among `tests`, or those whose names hold a word of the command line, after BOUGH."""
    if not shutil.which("tmux"):
        print("tmux is missing, so nothing is tested")
        sys.exit(77)
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    wanted = sys.argv[2:]
    for name, test in list(tests.items()):
        if not name.startswith("test_") or (wanted and not any(word in name for word in wanted)):
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            test(folder, bough)
            print(re.sub("_", " ", name), "ok")
