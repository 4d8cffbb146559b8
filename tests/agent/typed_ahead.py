#!/usr/bin/env python3
"""What is typed during a turn, in a real terminal: typed_ahead.py BOUGH. The offline model counts slowly when asked to."""
import pathlib
import re

from chat import PROMPT, Chat, check, run


def counting(folder, bough, to=40):
    """A chat in the middle of an answer."""
    chat = Chat(folder, bough)
    chat.type(f"count to {to}")
    chat.wait(lambda screen: " 5 6 " in screen)
    return chat


def asking(folder, bough, draft):
    """A chat that asks a question while somebody types."""
    chat = counting(folder, bough)
    chat.type("bash echo ran-$((1+1))")
    chat.type(draft, enter=False)
    chat.wait(lambda screen: "allow it?" in screen and chat.last(screen).endswith(":"))  # typed text is not taken as an answer
    return chat


def test_lines_pasted_during_a_turn_are_one_message(folder, bough):
    chat = counting(folder, bough)
    chat.tmux("set-buffer", "alpha\n\033[31mbeta\n")
    chat.tmux("paste-buffer", "-p")
    chat.wait(lambda screen: "beta" in chat.last(screen))
    chat.type("!")
    chat.wait(lambda screen: "You said: alpha" in screen and chat.last(screen) == PROMPT)
    screen = chat.say("/history 2")
    check(re.search(r"alpha\s+\[31mbeta!", screen.split("/history")[-1]) is not None, "all lines are one message", screen)
    check(screen.count("You said: ") == 2, "and one turn", screen)  # including the one in /history
    chat.close()


def test_words_and_lines_of_what_is_typed_during_a_turn(folder, bough):
    chat = counting(folder, bough)
    chat.type("alpha two words", enter=False)
    for key in ("M-BSpace", "C-w"):
        chat.key(key)
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} alpha")
    chat.key("BSpace")
    chat.key("M-Enter")
    chat.type("beta", enter=False)
    chat.wait(lambda screen: chat.last(screen).endswith("beta"))
    chat.type("!")
    screen = chat.wait(lambda screen: "You said: alpha" in screen and chat.last(screen) == PROMPT)
    check(re.search(r"You said: alpha\s+beta!", screen) is not None, "Alt-Enter begins another line of the same message", screen)
    chat.close()


def test_a_command_shows_what_it_prints_while_it_runs(folder, bough):
    chat = Chat(folder, bough)
    chat.type(f"!echo first; until [ -e {folder}/go-on ]; do sleep 0.05; done; printf last; exit 3")
    chat.wait(lambda screen: "\nfirst" in screen)
    chat.type("typed meanwhile", enter=False)
    screen = chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} typed meanwhile")
    check("last" not in screen.split("\nfirst")[1], "it still runs", screen)
    pathlib.Path(folder, "go-on").touch()
    screen = chat.wait(lambda screen: "[exit code 3]" in screen and chat.last(screen) == f"{PROMPT} typed meanwhile")
    check(re.search(r"\nfirst\s*\nlast\s*\n\[exit code 3\]", screen) is not None, "each line once, and how it ended", screen)
    chat.close()


def test_what_is_typed_and_not_sent_outlives_turns_that_wait(folder, bough):
    chat = counting(folder, bough)
    chat.type("this waits")
    chat.type("count to 3")
    chat.type("half a", enter=False)
    chat.wait(lambda screen: "You said: this waits" in screen and "2 3." in screen and chat.last(screen) == f"{PROMPT} half a")
    chat.type(" line")
    chat.wait(lambda screen: "You said: half a line" in screen)
    chat.close()


def test_lines_that_a_command_overtakes_are_told_and_kept(folder, bough):
    chat = counting(folder, bough)
    chat.type("one thing")
    chat.type("another")
    chat.type("/new")
    screen = chat.wait(lambda screen: "session " in screen.split("stopped")[-1] and chat.last(screen) == PROMPT)
    check("not sent: one thing and 1 more line; Up brings it back" in screen, "what is not sent is told", screen)
    for line in ("/new", "another", "one thing"):
        chat.key("Up")
        chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} {line}")
    chat.close()


def test_what_is_typed_does_not_mix_with_the_answer(folder, bough):
    chat = counting(folder, bough)
    chat.type("typed meanwhile", enter=False)
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} typed meanwhile")
    screen = chat.wait(lambda screen: " 14 15 " in screen.replace("\n", " "))  # the answer continues above it
    check(chat.last(screen) == f"{PROMPT} typed meanwhile", "what is typed stays below the answer", screen)
    for name in ("Up", "Left", "Home", "F5", "C-Right", "M-Up"):
        chat.key(name)
    chat.type("!", enter=False)
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} typed meanwhile!")  # keys without a meaning here type nothing
    chat.key("BSpace")
    chat.key("Enter")
    chat.wait(lambda screen: chat.last(screen) == "next: typed meanwhile")
    screen = chat.wait(lambda screen: "You said: typed meanwhile" in screen and chat.last(screen) == PROMPT)
    check("next: " not in screen, "that it waits is shown while it waits", screen)
    numbers = [int(word) for word in re.findall(r"(?<![\w.$-])\d+(?=[ .\n])", screen.split("count to 40")[1].split("offline/echo")[0])]
    check(numbers == list(range(1, 41)), "nothing of the answer is lost", screen)
    chat.key("Up")
    screen = chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} typed meanwhile")
    chat.close()


def test_tab_completes_what_is_typed_during_a_turn(folder, bough):
    chat = counting(folder, bough, to=60)
    pathlib.Path(f"{folder}/place/notes on 鹳.txt").write_text("They nest.")
    chat.type("/s", enter=False)
    chat.key("Tab")
    screen = chat.wait(lambda screen: re.match(rf"{PROMPT} /s +/sessions +/switch", chat.last(screen)))
    chat.type("w", enter=False)
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} /sw")
    chat.key("Tab")
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} /switch")
    chat.key("C-u")
    chat.type("see @no", enter=False)
    chat.key("Tab")
    chat.wait(lambda screen: '@"notes on 鹳.txt"' in chat.last(screen))
    chat.key("Enter")
    screen = chat.wait(lambda screen: "They nest." in screen and chat.last(screen) == PROMPT)
    check("sent with it: notes on 鹳.txt (10 bytes)" in screen, "and the chat says what was sent", screen)
    chat.close()


def test_an_answer_goes_on_after_a_stop_with_what_was_typed_below_it(folder, bough):
    chat = counting(folder, bough, to=60)
    chat.type("typed meanwhile", enter=False)
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} typed meanwhile")
    chat.key("C-z")
    chat.wait(lambda screen: "Stopped" in screen)
    chat.type("fg")
    screen = chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} typed meanwhile" and "fg" in screen.split("Stopped")[-1])
    check("Stopped" in screen, "what the shell wrote stays", screen)
    chat.tmux("resize-window", "-x", "70", "-y", "40")
    chat.key("C-u")
    screen = chat.wait(lambda screen: "59 60." in screen.replace("\n", " ") and chat.last(screen) == PROMPT)
    chat.close()


def test_a_question_is_seen_by_who_is_typing(folder, bough):
    chat = asking(folder, bough, "half a line")
    screen = chat.screen()
    check(f"{PROMPT} half a line" not in screen, "the question stands alone", screen)
    chat.key("y")
    chat.wait(lambda screen: re.search(r": y$", chat.last(screen)))  # on the line of the question
    chat.key("Enter")
    screen = chat.wait(lambda screen: "ran-2" in screen and chat.last(screen) == f"{PROMPT} half a line")
    chat.close()


def test_what_is_being_typed_answers_no_question(folder, bough):
    chat = asking(folder, bough, "y")
    chat.key("Enter")
    screen = chat.wait(lambda screen: "please answer" in screen)
    check("ran-2" not in screen, "an empty line is no answer", screen)
    chat.key("C-c")
    screen = chat.wait(lambda screen: "stopped" in screen and chat.last(screen) == f"{PROMPT} y")
    check("ran-2" not in screen, "what was typed comes back", screen)
    chat.close()


def test_the_beginning_of_an_answer_goes_with_its_question(folder, bough):
    chat = asking(folder, bough, "half a line")
    chat.key("y")
    chat.wait(lambda screen: re.search(r": y$", chat.last(screen)))
    chat.key("C-c")
    screen = chat.wait(lambda screen: "stopped" in screen and chat.last(screen).startswith(f"{PROMPT} half"))
    check(chat.last(screen) == f"{PROMPT} half a line" and "ran-2" not in screen, "the draft is as it was", screen)
    chat.close()


if __name__ == "__main__":
    run(globals())
