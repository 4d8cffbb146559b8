#!/usr/bin/env python3
"""What a chat says and does, in a real terminal: repl.py BOUGH. On the offline model, which counts slowly when it is asked to."""
import os
import pathlib
import re
import signal

from chat import PROMPT, Chat, Terminal, check, run


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
    shown = answer_to("- one\n  - " + "two " * 30 + "\n\n|a|名|\n|-|-:|\n|🍎|2|\n\n```python\nreturn 1\n```", colours=True)
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    check("• one\n  • two two" in plain and "\n    two two" in plain, "items are indented, also where they are broken", plain)
    check("a  │ 名\n───┼───\n🍎 │  2\n" in plain, "tables are drawn", plain)
    check(re.search(r"\[38;5;133m(\x1b\[49m)?return", shown) and "\nreturn" in plain, "code has colours and can be copied", shown)
    chat.close()
    chat = Chat(folder, bough)
    screen = chat.ready()
    check("🍎 │  2" in screen and "before this" in screen, "the end of the last answer is shown as it was", screen)
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
    screen = chat.say("/thinking")
    check("thinking as the model does by itself" in screen, "/thinking alone says what it is", screen)
    screen = chat.say("/model anthropic/claude-x")
    check("another model with /model;" in screen, "a hint names what can be typed here", screen)
    chat.key("C-d")
    screen = chat.wait(lambda screen: "To come back: bough resume" in screen and screen.rstrip().endswith("ready>"))
    check("^D" not in screen, "the end leaves nothing on the line", screen)
    command = re.search(r"bough resume [0-9a-f]{8}", screen).group(0)
    chat.type(f"clear; cd /; {command}")
    screen = chat.ready()
    check("› tell me of herons" in screen and "You said: tell me" in screen, "the last exchange is shown", screen)
    chat.say("!echo from the shell")
    screen = chat.screen()
    check("\nfrom the shell" in screen, "an exclamation mark runs a command", screen)
    check(re.search(r"\nfrom the shell *\n› *\n", screen + "\n"), "and the next line follows what it printed", screen)
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
    screen = chat.say("edit d.txt: none => three")
    check("does not hold that text" in screen, "a change that cannot be made", screen)
    screen = chat.say("/undo")
    check(re.search("restored .*/place/d.txt", screen) is not None, "the last turn is undone", screen)
    check(pathlib.Path(f"{folder}/place/d.txt").read_text() == "one\n", "the file holds what it held", screen)
    chat.close()
    chat = Chat(folder, bough, "bough chat --new")
    screen = chat.say("edit d.txt: none => three")
    check("does not hold that text" in screen and "allow it?" not in screen, "nobody is asked about what cannot be done", screen)
    chat.type("edit d.txt: one => two")
    chat.wait(lambda screen: "every change of files" in screen)
    chat.type("y")
    screen = chat.ready()
    check(screen.split("Done: ")[-2].count("+two") == 1 and "changed " in screen, "a change that was allowed is not shown again", screen)
    chat.type("write d.txt: two")
    screen = chat.wait(lambda screen: screen.count("every change of files") == 2)
    check("which holds exactly that already" in " ".join(screen.split()), "a change that changes nothing says so", screen)
    check("until the chat ends" in " ".join(screen.split()), "and how long each permission lasts", screen)
    chat.type("n")
    chat.ready()
    chat.close()


def test_a_question_shows_what_it_is_about_however_long_it_is(folder, bough):
    chat = Chat(folder, bough, "bough chat --new")
    chat.type("bash : remove-all; " + "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; " * 100)
    screen = chat.wait(lambda screen: "allow it?" in screen)
    check("This begins with: run: : remove-all;" in screen, "the beginning of a long line", screen)
    chat.type("n")
    chat.ready()
    pathlib.Path(f"{folder}/place/many.txt").write_text("".join(f"\tline {n}\n" for n in range(60)))
    chat.type("write many.txt: few")
    screen = chat.wait(lambda screen: "every change of files" in screen)
    check("This begins with: write to" in screen and "/place/many.txt" in screen.split("This begins")[1], "the file of a long change", screen)
    check("-    line 3" in screen or "-       line 3" in screen, "tabs are nothing unusual in a file", screen)
    check("[… 20 more lines …]" in screen and "[d] the whole diff" in screen, "a long change is cut, and says how to see all of it", screen)
    chat.type("d")
    screen = chat.wait(lambda screen: "every change of files" in screen.split("line 59")[-1] and "line 59" in screen)
    check("line 40" in screen, "all of it", screen)
    chat.type("n")
    chat.ready()
    chat.type("bash printf 'a\tb'")
    screen = chat.wait(lambda screen: screen.rstrip().split("run:")[-1].count("allow it?") == 1)
    check("This begins" not in screen.split("run:")[-1], "a short one needs no reminder", screen)
    chat.type("n")
    chat.ready()
    chat.close()


def test_a_permission_for_the_folder_lasts(folder, bough):
    chat = Chat(folder, bough)
    chat.type("bash echo ran-$((1+1))")
    chat.wait(lambda screen: "[a]lways here" in screen)
    chat.type("a")
    screen = chat.ready()
    check("ran-2" in screen, "it runs", screen)
    check("bough/config.json" in "".join(screen.split()), "it says where that can be taken back", screen)
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
    check("thinking low; offline/echo does not think" in screen.split("/thinking low")[-1], "the level changes", screen)
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


if __name__ == "__main__":
    run(globals())
