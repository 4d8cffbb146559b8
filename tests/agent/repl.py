#!/usr/bin/env python3
"""The REPL in a real terminal (tmux): repl.py BOUGH. On the offline model, which counts slowly when it is asked to."""
import os
import pathlib
import re
import shutil
import signal
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

    def key(self, name):
        self.tmux("send-keys", name)

    def say(self, text):
        self.type(text, enter=False)
        self.wait(lambda screen: self.last(screen) == f"{PROMPT} {text}")
        self.key("Enter")
        return self.ready()


def test_typing_and_editing_chinese_text(folder, bough):
    chat = Chat(folder, bough)
    chat.type("你好世界 abc", enter=False)
    chat.wait(lambda screen: "你好世界 abc" in screen)
    for _ in range(4):
        chat.key("Left")
    chat.key("BSpace")  # 界 goes
    chat.type("人", enter=False)
    screen = chat.wait(lambda screen: "你好世人" in screen)
    check(f"{PROMPT} 你好世人 abc" in screen, "wide characters are edited in place", screen)
    chat.key("Home")
    chat.key("Delete")
    chat.wait(lambda screen: f"{PROMPT} 好世人 abc" in screen)
    chat.key("Enter")
    screen = chat.ready()
    check("You said: 好世人 abc" in screen, "what was edited is what is said", screen)
    chat.key("Up")
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} 好世人 abc")
    chat.key("C-u")
    chat.type("one \\")
    chat.wait(lambda screen: chat.last(screen) == "…")
    chat.type("two")
    screen = chat.ready()
    check(re.search(r"You said: one *\n *two", screen) is not None, "a backslash goes on in the next line", screen)
    chat.close()


def test_what_is_seen_as_one_character_is_edited_as_one(folder, bough):
    chat = Chat(folder, bough)
    chat.type("a🧑🏽‍💻b家é", enter=False)  # the last one is two: e and an accent
    chat.wait(lambda screen: "b家é" in screen)
    chat.key("BSpace")
    for _ in range(2):
        chat.key("Left")
    chat.key("BSpace")  # all of the emoji
    chat.key("Home")
    chat.key("Right")
    chat.key("Delete")  # b
    chat.key("Enter")
    screen = chat.ready()
    check("You said: a家" in screen and "\u200d" not in screen, "none is cut in the middle", screen)
    chat.close()


def test_pasted_lines_are_one_message(folder, bough):
    chat = Chat(folder, bough)
    chat.tmux("set-buffer", "def f():\n\treturn 1\nprint(f())\n")
    chat.tmux("paste-buffer", "-p")
    chat.wait(lambda screen: "print(f())" in screen)
    check("You said" not in chat.screen(), "a paste is not sent by itself", chat.screen())
    chat.type("!")
    chat.ready()
    screen = chat.say("/history 2")
    said = screen.split("/history")[-1]
    check(re.search(r"def f\(\):\s+return 1\s+print\(f\(\)\)!", said) is not None, "all lines are one message", screen)
    check(screen.count("You said") == 2, "and one turn", screen)
    chat.close()


def test_a_pasted_path_of_an_image_sends_the_image(folder, bough):
    chat = Chat(folder, bough)
    path = f"{folder}/place/a picture.png"
    pathlib.Path(path).write_bytes(b"\x89PNG\r\n\x1a\nrest")
    chat.type("look at ", enter=False)
    chat.tmux("set-buffer", f"'{path}'")
    chat.tmux("paste-buffer", "-p")
    chat.wait(lambda screen: '@"' in screen)
    # As file managers copy them: addresses, one a line.
    pathlib.Path(f"{folder}/place/ä%b.jpg").write_bytes(b"\xff\xd8\xff\xe0rest")
    chat.tmux("set-buffer", f"file://{folder}/place/%C3%A4%25b.jpg\r\nfile://localhost{folder}/place/a%20picture.png\r\n")
    chat.tmux("paste-buffer", "-p")
    chat.wait(lambda screen: "/ä%b.jpg @" in screen.replace("\n", ""))
    chat.key("Enter")
    chat.ready()
    chat.key("C-d")
    chat.wait(lambda screen: "To come back" in screen)
    chat.type("clear; bough context @last --as anthropic 2>/dev/null | grep -o image/[pj][a-z]* | sort | uniq -c | tr -d '\\n'")
    chat.wait(lambda screen: re.match(r" *1 image/jpeg +[12] image/png", screen))
    chat.close()


def test_answers_are_readable(folder, bough):
    chat = Chat(folder, bough)

    def answer_to(text, colours=False):
        chat.tmux("set-buffer", "x\n" + text + "\nend")
        chat.tmux("paste-buffer", "-p")
        chat.wait(lambda screen: chat.last(screen) == "end")
        chat.key("Enter")
        chat.ready()
        return chat.screen(colours).split("You said: x")[-1]

    words = [f"word{number}" for number in range(30)]
    shown = answer_to(" ".join(words))
    check(re.findall(r"word\d+", shown) == words and "\nword" in shown, "no word is broken at the edge", shown)
    shown = answer_to("汉" * 80)
    check("汉" * 80 in shown.replace("\n", ""), "text without blanks is broken between characters", shown)
    shown = answer_to("**bold** and `code` and a stray ` mark\nplain\n```diff\n+new\n-old\n```", colours=True)
    check(re.search(r"\[38;5;28m(\x1b\[49m)?\+new", shown) and re.search(r"\[38;5;160m-old", shown), "a diff is coloured", shown)
    check("\x1b[38;5;30mcode" in shown and "\x1b[1mbold" in shown, "marks are styles", shown)
    check(re.search(r"^(\x1b\[0?m|\x1b\[39m)*plain", shown, re.M) is not None, "a stray mark ends with its line", shown)
    chat.close()


def test_sessions_and_labels_are_completed(folder, bough):
    chat = Chat(folder, bough, "bough chat --key first:cli:me")
    chat.say("about apples")
    chat.close()
    chat = Chat(folder, bough, "bough chat --key second:cli:me")
    chat.say("about pears")
    chat.say("/label ripe")
    chat.type("/switch ", enter=False)
    chat.key("Tab")
    screen = chat.wait(lambda screen: "apples" in screen and "first:cli:me" in screen.split("/switch")[-2])
    check("pears" in screen, "every session is offered with its title", screen)
    chat.type("fi", enter=False)
    chat.key("Tab")
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} /switch first:cli:me")
    chat.key("Enter")
    screen = chat.ready()
    check("Restored: 1 turn" in screen, "and can be opened", screen)
    chat.say("/switch second:cli:me")
    chat.type("/branch r", enter=False)
    chat.key("Tab")
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} /branch ripe")
    chat.close()


def test_restored_turns_are_those_of_the_branch(folder, bough):
    chat = Chat(folder, bough)
    for number in range(3):
        chat.say(f"thing {number}")
    chat.say("/back 2")
    chat.close()
    chat = Chat(folder, bough)
    screen = chat.ready()
    check("Restored: 1 turn" in screen, "what was left behind does not count", screen)
    chat.say("/fork")
    chat.close()
    chat = Chat(folder, bough)
    screen = chat.ready()
    check("Restored: 1 turn" in screen, "what a fork shares does", screen)
    chat.close()


def test_a_chat_shows_where_it_was_and_how_to_come_back(folder, bough):
    chat = Chat(folder, bough, "bough chat tell me of herons")
    screen = chat.ready()
    check("You said: tell me of herons" in screen, "a prompt as an argument is said first", screen)
    chat.key("C-d")
    screen = chat.wait(lambda screen: "To come back: bough resume" in screen)
    command = re.search(r"bough resume [0-9a-f]{8}", screen).group(0)
    chat.type(f"clear; cd /; {command}")
    screen = chat.ready()
    check("› tell me of herons" in screen and "You said: tell me" in screen, "the last exchange is shown", screen)
    chat.say("!echo from the shell")
    screen = chat.screen()
    check("\nfrom the shell" in screen, "an exclamation mark runs a command", screen)
    chat.close()


def test_keys_are_kept_out_of_everything(folder, bough):
    key = "sk-ant-0123456789abcdef"
    chat = Chat(folder, bough, "bough chat --model offline/echo", ANTHROPIC_API_KEY=key)
    screen = chat.say(f"my key is {key}, keep it")
    check("You said: my key is [key]," in screen, "a typed key goes nowhere", screen)
    chat.say("/export out.md")
    chat.close()
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file() and path.name != "raw":  # what the terminal itself echoed
            check(key.encode() not in path.read_bytes(), f"there is no key in {path}", screen)


def test_ctrl_c_stops_the_model_and_not_the_chat(folder, bough):
    chat = Chat(folder, bough, "bough chat --new")
    chat.type("count to 100000")
    chat.wait(lambda screen: " 10 11 " in screen)
    chat.key("C-c")
    screen = chat.ready()
    check("stopped" in screen, "a stopped turn says so", screen)
    screen = chat.say("still there?")
    check("You said: still there?" in screen, "the chat goes on", screen)
    chat.type("half a line", enter=False)
    chat.wait(lambda screen: "half a line" in screen)
    chat.key("C-c")
    chat.ready()
    screen = chat.say("/history 2")
    check("half a line" not in screen.split("/history")[-1], "Ctrl-C at the prompt says nothing", screen)
    chat.close()


def test_tools_are_asked_for(folder, bough):
    chat = Chat(folder, bough, "bough chat --new")
    chat.type("bash echo ran-$((1+1))")
    chat.wait(lambda screen: "allow it?" in screen)
    chat.type("n")
    screen = chat.ready()
    check("did not allow it" in screen and "ran-2" not in screen, "no means no", screen)
    chat.type("bash echo ran-$((1+1))")
    chat.wait(lambda screen: screen.count("allow it?") == 2)
    chat.type("and then tell me")
    screen = chat.wait(lambda screen: "please answer y, n, s, a:" in screen)
    check(screen.count("did not allow it") == 2 and "ran-2" not in screen, "another line decides nothing", screen)
    chat.type("Yes")
    screen = chat.ready()
    check("ran-2" in screen, "yes means yes", screen)
    chat.type("write d.txt: one")
    screen = chat.wait(lambda screen: "every change of files" in screen)
    check("+one" in screen and not pathlib.Path(f"{folder}/place/d.txt").exists(), "a change is shown before it is made", screen)
    chat.type("s")
    chat.ready()
    screen = chat.say("edit d.txt: one => two")
    check("-one" in screen and "+two" in screen, "a permission for the session covers the next change", screen)
    screen = chat.say("/undo")
    check(re.search("restored .*/place/d.txt", screen) is not None, "the last turn is undone", screen)
    check(pathlib.Path(f"{folder}/place/d.txt").read_text() == "one\n", "the file holds what it held", screen)
    chat.close()


def test_a_permission_for_the_folder_lasts(folder, bough):
    chat = Chat(folder, bough)
    chat.type("bash echo ran-$((1+1))")
    chat.wait(lambda screen: "[a]lways here" in screen)
    chat.type("a")
    screen = chat.ready()
    check("ran-2" in screen, "it runs", screen)
    chat.close()
    chat = Chat(folder, bough)
    screen = chat.say("bash echo ran-$((1+1))")
    check(screen.count("ran-2") >= 2 and "allow it?" not in screen.split("echo ran-$((1+1))")[-1], "nobody is asked again", screen)
    chat.type("bash echo ran-$((1+2))")
    chat.wait(lambda screen: "allow it?" in screen)
    chat.type("n")
    screen = chat.ready()
    check("ran-3" not in screen, "it covers that command and no other", screen)
    chat.close()


def test_words_and_lines_of_a_draft(folder, bough):
    chat = Chat(folder, bough)
    chat.say("an old line")
    chat.type("one two three", enter=False)
    chat.key("C-Left")
    chat.key("C-Left")
    chat.type("X", enter=False)
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} one Xtwo three")
    chat.key("C-Right")
    chat.key("M-BSpace")
    chat.wait(lambda screen: chat.last(screen) in (f"{PROMPT} one three", f"{PROMPT} one  three"))
    chat.key("End")
    chat.key("M-Enter")
    chat.type("below", enter=False)
    chat.wait(lambda screen: chat.last(screen) == "below")
    chat.key("Up")
    chat.type("Y", enter=False)
    chat.wait(lambda screen: "one  Ythree" in screen or "one Ythree" in screen or "one tYhree" in screen)
    check("an old line" not in chat.last(chat.screen()), "Up moves inside a draft", chat.screen())
    chat.key("Up")
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} an old line")
    chat.close()


def test_what_is_typed_does_not_mix_with_the_answer(folder, bough):
    chat = Chat(folder, bough)
    chat.type("count to 40")
    chat.wait(lambda screen: " 5 6 " in screen)
    chat.type("typed meanwhile", enter=False)
    screen = chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} typed meanwhile")
    check("typed meanwhile 1" not in screen, "the answer waits while somebody types", screen)
    for name in ("Up", "Left", "Home", "F5", "C-Right", "M-Up"):
        chat.key(name)
    chat.type("!", enter=False)
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} typed meanwhile!")  # keys that mean nothing here type nothing
    chat.key("BSpace")
    chat.key("Enter")
    screen = chat.wait(lambda screen: "You said: typed meanwhile" in screen and chat.last(screen) == PROMPT)
    numbers = [int(word) for word in re.findall(r"(?<![\w.$-])\d+(?=[ .\n])", screen.split("count to 40")[1].split("offline/echo")[0])]
    check(numbers == list(range(1, 41)), "nothing of the answer is lost", screen)
    chat.key("Up")
    screen = chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} typed meanwhile")
    chat.close()


def test_a_draft_is_drawn_again_when_the_terminal_changes(folder, bough):
    chat = Chat(folder, bough)
    draft = "one-two-three-four-five-six-seven-東京-eight-nine-ten-eleven-twelve-thirteen-fourteen"
    chat.say("before the draft")
    chat.type(draft, enter=False)
    chat.wait(lambda screen: draft in screen)

    def drawn(width, text):
        """The rows of the draft, once it is drawn for this width and nothing of an earlier drawing is left."""
        def rows(screen):
            after = screen.split("branch ")[-1]
            return [row for row in after[max(after.find(PROMPT), 0):].splitlines() if row.strip()]
        chat.wait(lambda screen: "".join(f"{row:{width - sum(ord(c) > 0x2e80 for c in row)}}" for row in rows(screen)).rstrip() == f"{PROMPT} {text}")

    def resize(width):
        # A key is for the width that the chat knows: wait until it has heard of the new one.
        before = chat.raw.read_bytes().count(b"\033[J")
        chat.tmux("resize-window", "-x", str(width), "-y", "40")
        chat.wait(lambda screen: chat.raw.read_bytes().count(b"\033[J") > before)

    for width in (50, 30, 110, 60, 100):
        resize(width)
        drawn(width, draft)
        chat.key("Home")
        chat.type("<", enter=False)
        drawn(width, "<" + draft)
        chat.key("BSpace")
        chat.key("End")
        chat.type(">", enter=False)
        drawn(width, draft + ">")
        chat.key("BSpace")
    chat.key("C-u")
    draft = "one two three four five six seven 東京 eight nine ten eleven twelve thirteen fourteen"
    chat.type(draft, enter=False)
    for width in (50, 40, 30, 20, 25, 35, 110, 100):
        resize(width)
        drawn(width, draft)
    chat.key("C-z")
    chat.wait(lambda screen: "Stopped" in screen and screen.rstrip().endswith("ready>"))
    chat.type("fg")
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} {draft}" and screen.split("fg")[-1].count(draft) == 1)
    chat.tmux("set-buffer", "a\nb")
    chat.tmux("paste-buffer", "-p")  # the shell has turned pasting off
    chat.wait(lambda screen: chat.last(screen) == "b")
    chat.key("C-c")
    chat.ready()
    chat.close()


def test_a_label_of_the_chat_is_in_its_tree(folder, bough):
    chat = Chat(folder, bough)
    chat.say("hello there")
    chat.say("/label first")
    chat.type("/tree")
    chat.wait(lambda screen: re.search(r"\[first\].* I am bough", screen) is not None)
    chat.key("Escape")
    chat.wait(lambda screen: "q end" in screen)
    chat.type("q", enter=False)
    chat.ready()
    chat.close()


def test_ctrl_c_at_a_question_stops_the_turn(folder, bough):
    chat = Chat(folder, bough)
    chat.type("bash touch it-ran")
    chat.wait(lambda screen: "allow it?" in screen)
    chat.key("C-c")
    screen = chat.ready()
    check("Not run: the user stopped the turn" in screen, "the model is told why", screen)
    check(not os.path.exists(f"{folder}/place/it-ran"), "nothing ran", screen)
    chat.close()


def test_switching_in_a_running_turn_stops_it_and_empties_the_queue(folder, bough):
    chat = Chat(folder, bough, "bough chat --key a:b:first")
    chat.say("the first session")
    chat.close()
    chat = Chat(folder, bough, "bough chat --key a:b:second")
    chat.say("the second session")
    chat.type("count to 100000")
    chat.wait(lambda screen: " 5 6 " in screen)
    chat.type("this waits in the queue")
    chat.type("/switch a:b:first")
    screen = chat.ready()
    check("stopped" in screen and "Restored: 1 turn" in screen, "the other session is loaded", screen)
    check("You said: this waits" not in screen, "the queue is empty", screen)
    screen = chat.say("/history")
    check("the first session" in screen.split("/history")[-1], "it is the other session", screen)
    chat.say("/switch a:b:second")
    screen = chat.say("/history 3")
    check("1 2 3 4 5" in screen.split("/history")[-1], "what came before the stop is kept", screen)
    chat.close()


def test_lines_typed_during_a_turn_wait(folder, bough):
    chat = Chat(folder, bough, "bough chat --new")
    chat.type("count to 20")
    chat.wait(lambda screen: " 3 4 " in screen)
    chat.type("and then this")
    screen = chat.wait(lambda screen: "You said: and then this" in screen and chat.last(screen) == PROMPT)
    check("19 20." in screen, "the turn before it was finished", screen)
    chat.close()


def test_conversation_is_restored_and_commands_move_about(folder, bough):
    chat = Chat(folder, bough, "bough chat --key r:e:s")
    chat.say("remember me")
    chat.key("C-d")
    chat.wait(lambda screen: "ready>" in screen.splitlines()[-1] or "ready>" in chat.last(screen))
    chat.type("clear; bough chat --key r:e:s")
    screen = chat.ready()
    check("Restored: 1 turn" in screen, "a restart restores", screen)
    chat.say("second thing")
    screen = chat.say("/back")
    check("back 1 turn" in screen, "one can go back", screen)
    chat.say("another way")
    chat.type("/tree")
    screen = chat.wait(lambda screen: "Tree:" in screen)
    check("second thing" in screen and "another way" in screen, "both ways are in the tree", screen)
    chat.key("C-c")
    chat.ready()
    chat.say("/fork")
    screen = chat.say("/model offline/echo")
    check("offline/echo: " in screen, "the model changes with a line about it", screen)
    chat.say("/label here")
    chat.say("/compact")
    screen = chat.say("/export out.md")
    check("messages in out.md" in screen, "the conversation is exported", screen)
    check("remember me" in pathlib.Path(f"{folder}/place/out.md").read_text(), "all of it", screen)
    screen = chat.say("/nonsense")
    check("there is no command /nonsense" in screen, "wrong commands are named", screen)
    chat.type("/sess", enter=False)
    chat.key("Tab")
    chat.wait(lambda screen: chat.last(screen).startswith(f"{PROMPT} /sessions"))
    chat.type(" 20")
    screen = chat.ready()
    check("remember me" in screen.split("/sessions")[-1], "sessions are listed by title", screen)
    chat.type("read ou", enter=False)
    chat.key("Tab")
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} read out.md")
    chat.close()


def test_every_turn_says_what_it_took_and_commands_look_around(folder, bough):
    chat = Chat(folder, bough)
    screen = chat.say("hello there")
    line = r"offline/echo · [\d,]+ in, [\d,]+ out · context [\d,]+ \(\d+%\) · \$0\.0000 · [\d.]+ s · branch \w+"
    check(re.search(line, screen) is not None, "a line shows model, tokens, cost and branch", screen)
    screen = chat.say("/history 1")
    check("hello there" in screen.split("/history 1")[-1], "what was said is shown again", screen)
    screen = chat.say("/branch")
    check("[assistant] I am bough" in screen.split("/branch")[-1], "branches are listed with what was said last", screen)
    screen = chat.say("/search there")
    found = screen.split("/search there")[-1]
    check("[user]" in found and "hello there" in found, "what was said is found", screen)
    check("About: hello there" in found, "the first exchange gave the session a title", screen)
    screen = chat.say("/cost")
    check("total" in screen.split("/cost")[-1], "the cost is summed", screen)
    screen = chat.say("/thinking low")
    check("low" in screen.split("/thinking low")[-1], "the level changes", screen)
    chat.say("/new")
    chat.say("something else")
    chat.say("/sessions 9")
    chat.type("/delete @2")
    chat.wait(lambda screen: "to the trash? [y/N]" in chat.last(screen))
    chat.type("y")
    chat.ready()
    screen = chat.say("/help")
    for name in ("new sessions switch history delete quit tree branch fork back label search model compact cost export"
                 " help").split():
        check(f"  /{name} " in screen.split("/help")[1] or name == "help", f"/{name} is explained", screen)
    chat.type("/quit")
    chat.wait(lambda screen: "ready>" in chat.last(screen))
    screen = chat.run("bough ls")
    check("something else" in screen and "hello there" not in screen, "what was deleted is not listed, what is left has its title", screen)
    chat.close()


def test_killed_chat_finishes_its_turn_after_the_restart(folder, bough):
    chat = Chat(folder, bough, "bough chat --key k:i:l --yes")
    # The parent of a command is its keeper, whose parent is another keeper, whose parent is the chat.
    chat.type("bash cut -d' ' -f4 /proc/$(cut -d' ' -f4 /proc/$PPID/stat)/stat > pid; sleep 1000")
    chat.wait(lambda screen: "● bash" in screen)
    path = pathlib.Path(f"{folder}/place/pid")
    chat.wait(lambda screen: path.exists() and path.read_text().strip())
    os.kill(int(path.read_text()), signal.SIGKILL)
    chat.wait(lambda screen: "Killed" in screen)
    chat.close()
    chat = Terminal(folder, bough, width=100, height=40)
    chat.type(f"cd {folder}/place; clear; bough chat --key k:i:l")
    screen = chat.wait(lambda screen: "[r]un it again" in screen)
    check("was interrupted" in screen, "an interrupted turn is noticed", screen)
    chat.type("s")
    screen = chat.wait(lambda screen: Chat.last(screen) == PROMPT)
    check("the user skipped it" in screen, "the user decides", screen)
    chat.close()


def main():
    if not shutil.which("tmux"):
        print("repl: tmux is missing, so nothing is tested")
        sys.exit(77)
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    wanted = sys.argv[2:]
    for name, test in list(globals().items()):
        if not name.startswith("test_") or (wanted and not any(word in name for word in wanted)):
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            test(folder, bough)
            print(re.sub("_", " ", name), "ok")


if __name__ == "__main__":
    main()
