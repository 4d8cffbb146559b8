#!/usr/bin/env python3
"""The line that a chat reads, in a real terminal: draft.py BOUGH. On the offline model, which counts slowly when asked to."""
import pathlib
import re
import subprocess

from chat import PROMPT, Chat, check, run


def test_what_is_erased_meanwhile_is_not_in_the_history_of_an_open_chat(folder, bough):
    chat = Chat(folder, bough)
    chat.say("hello")
    chat.say("my password is heron")
    erased = subprocess.run([bough, "--store", f"{folder}/store", "erase", "main:cli:user", "--pattern", "heron", "--reason", "a secret",
                             "--yes"], capture_output=True, text=True, check=False)
    check("removed from what was typed" in erased.stderr, "the line is removed", erased)
    chat.say("something else")
    kept = pathlib.Path(f"{folder}/store/chat_history").read_text()
    check("heron" not in kept, "and does not come back", kept)
    chat.key("Up", "Up")
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} hello")
    chat.close()


def test_typing_and_editing_chinese_text(folder, bough):
    chat = Chat(folder, bough)
    chat.type("你好世界 abc", enter=False)
    chat.wait(lambda screen: "你好世界 abc" in screen)
    for _ in range(4):
        chat.key("Left")
    chat.key("BSpace")  # deletes 界
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
    chat.type("two", enter=False)
    chat.wait(lambda screen: chat.last(screen) == "two")
    chat.key("Enter")
    screen = chat.ready()
    check(re.search(r"You said: one *\n *two", screen) is not None, "a backslash goes on in the next line", screen)
    chat.close()


def test_what_is_seen_as_one_character_is_edited_as_one(folder, bough):
    chat = Chat(folder, bough)
    chat.type("a🧑🏽‍💻b家é", enter=False)  # the last grapheme is two code points: e and an accent
    chat.wait(lambda screen: "b家é" in screen)
    chat.key("BSpace")
    for _ in range(2):
        chat.key("Left")
    chat.key("BSpace")  # deletes the whole emoji
    chat.key("Home")
    chat.key("Right")
    chat.key("Delete")  # deletes b
    chat.key("Enter")
    screen = chat.ready()
    check("You said: a家" in screen and "\u200d" not in screen, "none is cut in the middle", screen)
    chat.close()


def test_the_cursor_is_where_the_letters_are_beside_joined_emoji(folder, bough):
    chat = Chat(folder, bough)
    chat.type("a👩‍👩‍👧b ❤️c", enter=False)
    chat.key("Home")
    for _ in range(2):
        chat.key("Right")
    chat.type("X", enter=False)
    chat.wait(lambda screen: "👧Xb" in screen)
    chat.key("End")
    chat.key("Left")
    chat.type("Y", enter=False)
    screen = chat.wait(lambda screen: "Yc" in screen)
    check(chat.last(screen) == f"{PROMPT} a👩👩👧Xb ❤Yc", "each character is shown once, in its place", screen)
    chat.key("Enter")
    screen = chat.ready()
    check("You said: a👩‍👩‍👧Xb ❤️Yc" in screen.replace("\n", " ").replace("  ", " "), "the text keeps what joins them", screen)
    chat.key("C-l")
    chat.type("a👍🏽b 👩🏻‍💻c", enter=False)
    chat.key("Left", "Left", "Left", "Left")
    chat.type("X", enter=False)
    chat.key("Right", "BSpace")
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} a👍🟫X 👩🟫💻c")  # the skin color takes its own columns
    chat.close()


def test_marks_of_letters_stay_while_a_line_is_edited(folder, bough):
    chat = Chat(folder, bough)
    chat.tmux("resize-window", "-x", "40", "-y", "30")
    chat.key("C-l")
    typed = "cafe\u0301 शीर्षक यह एक लंबी पंक्ति है जो टूटती है ทำที่นี่ end"
    without_blanks = lambda text: "".join(text.split())  # a row may end in a blank
    shows = lambda screen, line: without_blanks(screen[screen.rindex(PROMPT):]) == PROMPT + without_blanks(line)
    chat.type(typed, enter=False)
    chat.wait(lambda screen: shows(screen, typed))
    for _ in range(4):
        chat.key("Left")
    chat.type("X", enter=False)
    after = typed.replace(" end", "X end")
    screen = chat.wait(lambda screen: shows(screen, after))
    check(shows(screen, after), "every mark is there, and no row is drawn twice", screen)
    chat.key("Home")
    chat.type("Z", enter=False)
    screen = chat.wait(lambda screen: shows(screen, "Z" + after))
    check(shows(screen, "Z" + after), "also after the beginning was edited", screen)
    chat.tmux("resize-window", "-x", "60", "-y", "30")
    screen = chat.wait(lambda screen: shows(screen, "Z" + after))
    check(screen.count("Z") == 1, "and after the terminal was resized", screen)
    chat.key("Enter")
    screen = chat.ready()
    check("Zcafe\u0301" in screen, "what was edited is what is said", screen)
    chat.close()


def test_wide_characters_stay_while_a_long_line_is_edited(folder, bough):
    chat = Chat(folder, bough)
    chat.tmux("resize-window", "-x", "60", "-y", "30")
    chat.key("C-l")
    without_blanks = lambda text: "".join(text.split())  # a row may end in a blank
    shows = lambda screen, line: without_blanks(screen[screen.rindex(PROMPT):]) == PROMPT + without_blanks(line)
    line = "aa👍日👍 a日 👍 a👍👍 👍 a 👍a👍 日👍日👍日a👍a日  日👍日日👍 a日 日aab日"
    chat.type(line, enter=False)
    chat.wait(lambda screen: shows(screen, line))
    for typed in ("日 ", " a👍👍", "👍 aa  a", "👍日  a", "aaa👍日", "aa", " 日 日日", "bb日"):
        chat.key("Home")
        chat.type(typed, enter=False)
        line = typed + line
        chat.wait(lambda screen: shows(screen, line))
        for _ in range(9):
            chat.key("Right")
        chat.key("BSpace", "DC")
        at = len(typed) + 9
        line = line[:at - 1] + line[at + 1:]
        chat.wait(lambda screen: shows(screen, line))
    chat.close()


def test_rows_that_are_full_keep_what_follows_them(folder, bough):
    chat = Chat(folder, bough)
    chat.tmux("resize-window", "-x", "40", "-y", "30")
    chat.key("C-l")
    full = "日" + "a" * 36  # fills a row, together with the prompt
    rows = lambda screen: screen[screen.rindex(PROMPT):].rstrip().split("\n")
    for line in (full + "日bc", full + "xbc", "日" + "a" * 35 + " xbc", "日" + "a" * 35 + "日bc"):
        chat.type(line, enter=False)
        chat.key("Left", "Left", "Left")  # to the beginning of the second row
        screen = chat.wait(lambda screen: "".join(rows(screen)).replace(" ", "") == PROMPT + line.replace(" ", ""))
        check(chat.last(screen) == line[-3:], "what is behind the cursor is there", screen)
        chat.type("Z", enter=False)
        after = line[:-3] + "Z" + line[-3:]
        chat.wait(lambda screen: "".join(rows(screen)).replace(" ", "") == PROMPT + after.replace(" ", ""))
        chat.key("C-a", "C-k")
        chat.ready()
    chat.type(full, enter=False)
    chat.key("M-Enter")
    chat.type("bc", enter=False)
    chat.key("Left")
    chat.type("日", enter=False)
    screen = chat.wait(lambda screen: chat.last(screen) == "b日c")
    check(screen.count("日a") == 1, "a line end after a full row draws nothing twice", screen)
    chat.close()


def test_halves_of_wide_characters_leave_nothing_behind(folder, bough):
    chat = Chat(folder, bough)
    chat.tmux("resize-window", "-x", "40", "-y", "30")
    chat.key("C-l")
    without_blanks = lambda text: "".join(text.split())  # a row may end in a blank
    shows = lambda screen, line: without_blanks(screen[screen.rindex(PROMPT):]) == PROMPT + without_blanks(line)
    line = ("ที่👩🟫cक日ä́aä́ア ä́é👩🟫💻👍🟫👩👩👧ä́❤🇩🇪🇩🇪한👍👩👩👧🟫🟫ที่😀🇩🇪❤❤ที่é❤"
            "👍❤🇩🇪本👍👍🟫😀👩🟫🇩🇪c❤🇩🇪ä́ä́ ä́ä́शी🟫🇩🇪👩🟫💻🟫👍🟫शीé👍🟫🇩🇪🟫 b👩👩👧❤कä́")
    chat.type(line, enter=False)
    chat.wait(lambda screen: shows(screen, line))
    chat.key("Home")
    chat.type("ア 한👍ที่👩🟫💻🇩🇪👩🟫💻", enter=False)
    chat.wait(lambda screen: shows(screen, "ア 한👍ที่👩🟫💻🇩🇪👩🟫💻" + line))
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
    # As file managers copy them: one address per line.
    pathlib.Path(f"{folder}/place/ä%b.jpg").write_bytes(b"\xff\xd8\xff\xe0rest")
    chat.tmux("set-buffer", f"file://{folder}/place/%C3%A4%25b.jpg\r\nfile://localhost{folder}/place/a%20picture.png\r\n")
    chat.tmux("paste-buffer", "-p")
    chat.wait(lambda screen: "/ä%b.jpg @" in screen.replace("\n", ""))
    chat.key("Enter")
    chat.ready()
    chat.key("C-d")
    chat.wait(lambda screen: "To come back" in screen and screen.rstrip().endswith("ready>"))
    chat.type("clear; bough context @last --as anthropic 2>/dev/null | grep -o image/[pj][a-z]* | sort | uniq -c | tr -d '\\n'")
    chat.wait(lambda screen: re.match(r" *1 image/jpeg +[12] image/png", screen))
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


def test_files_that_a_prompt_sends_are_completed(folder, bough):
    place = pathlib.Path(f"{folder}/place")
    (place / "src/deep").mkdir(parents=True)
    for name in ("src/main.cpp", "src/deep/heron_parser.cpp", "src/two words.txt", "notes.md", ".hidden", "天気.txt"):
        (place / name).write_text("x")
    chat = Chat(folder, bough)
    for typed, completed in (("see @no", "see @notes.md"), ("(@sr", "(@src/"), ("see @src/m", "see @src/main.cpp"),
                             ("see @src/t", 'see @"src/two words.txt"'), ('see @"src/two w', 'see @"src/two words.txt"'),
                             ("see @parser", "see @src/deep/heron_parser.cpp"), ("@天", "@天気.txt"), ("@.h", "@.hidden"),
                             ("see no", "see notes.md"), ("!cat no", "!cat notes.md")):
        chat.type(typed, enter=False)
        chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} {typed}")
        chat.key("Tab")
        chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} {completed}")
        chat.key("C-u")
        chat.ready()
    chat.type("see @src/", enter=False)
    chat.key("Tab")
    screen = chat.wait(lambda screen: "@src/main.cpp" in screen and chat.last(screen) == f"{PROMPT} see @src/")
    check('@"src/two words.txt"' in screen and "@src/deep/" in screen, "what there is, is listed", screen)
    chat.key("C-u")
    screen = chat.say('look at @notes.md')
    check('<file path="notes.md">' in screen, "and sent", screen)
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


def test_what_was_typed_comes_back_from_the_history(folder, bough):
    chat = Chat(folder, bough)
    shows = lambda line: chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} {line}".rstrip())
    chat.type("nothing above", enter=False)
    chat.key("Up", "Down")
    chat.type("!", enter=False)
    shows("nothing above!")
    chat.key("C-u")
    chat.say("one")
    chat.say("two")
    chat.type("draft", enter=False)
    chat.key(*["Up"] * 5)
    shows("one")
    chat.type(" changed", enter=False)
    chat.key("C-n")
    shows("two")
    chat.key("Up")
    shows("one changed")  # as it was left
    chat.key(*["Down"] * 5)
    shows("draft")
    chat.key("C-u")
    long = "<" + "word " * 400 + ">"
    chat.tmux("set-buffer", long)
    chat.tmux("paste-buffer", "-p")
    chat.wait(lambda screen: chat.last(screen).endswith(">"))
    chat.key("Up")
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} two")
    chat.key("Down")
    chat.wait(lambda screen: screen.rstrip().endswith(">") and screen.replace("\n", "").count("word ") == 400)
    chat.key("C-c")
    chat.ready()
    chat.key("C-r")
    chat.type("on", enter=False)
    chat.key("Escape")
    chat.wait(lambda screen: chat.last(screen).endswith("one"))
    chat.key("Down")
    shows("two")  # the line after the one that was found
    chat.close()


def test_words_and_lines_end_where_characters_end(folder, bough):
    chat = Chat(folder, bough)
    chat.type("pre\u0301 cafe\u0301", enter=False)
    chat.key("C-Left", "C-Left", "C-Right")
    chat.type("s", enter=False)
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} pre\u0301s cafe\u0301")
    chat.key("End", "C-w", "C-y", "C-y")
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} pre\u0301s cafe\u0301cafe\u0301")
    chat.key("Home", "M-d", "M-BSpace", "C-u")
    chat.type("o\u0301o\u0301 日本", enter=False)
    chat.key("M-Enter")
    chat.type("o\u0301o\u0301o\u0301o\u0301", enter=False)
    chat.key("Left", "Up")
    chat.type("X", enter=False)
    chat.wait(lambda screen: f"{PROMPT} o\u0301o\u0301 X日本" in screen)
    chat.key("Left", "Down")
    chat.type("Y", enter=False)
    chat.wait(lambda screen: chat.last(screen) == "o\u0301o\u0301o\u0301Yo\u0301")
    chat.close()


def test_a_line_that_goes_on_in_the_next_is_one_draft(folder, bough):
    chat = Chat(folder, bough)
    chat.say("an old line")
    chat.type("first \\")
    chat.type("second", enter=False)
    chat.wait(lambda screen: chat.last(screen) == "second")
    chat.key("Up")
    chat.type("X", enter=False)
    screen = chat.wait(lambda screen: f"{PROMPT} first X" in screen)
    check(chat.last(screen) == "second", "Up moves into the line before", screen)
    chat.key("Enter")
    screen = chat.wait(lambda screen: re.search(r"You said: first X *\n *second", screen) and chat.last(screen) == PROMPT)
    chat.key("Up")
    chat.wait(lambda screen: screen.rstrip().endswith(f"{PROMPT} first X\nsecond"))  # the history contains the whole text
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

    def press(key):
        """A key that moves the cursor. The chat has drawn it then: what it draws while the width changes is for the old one."""
        before = chat.raw.stat().st_size
        chat.key(key)
        chat.wait(lambda screen: chat.raw.stat().st_size > before)

    def resize(width):
        # A key is drawn for the width that the chat knows, so wait until the chat knows the new width.
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
        drawn(width, draft)
    chat.key("C-u")
    draft = "one two three four five six seven 東京 eight nine ten eleven twelve thirteen fourteen"
    chat.type(draft, enter=False)
    drawn(100, draft)
    for width in (50, 40, 30, 20, 25, 35, 110, 100):
        resize(width)
        drawn(width, draft)
    # Rows of 22, 42 and 62 columns end in a blank: the text is typed and redrawn at these widths, also with the cursor
    # above the end.
    chat.key("C-u")
    chat.wait(lambda screen: chat.last(screen) == PROMPT)
    resize(62)
    draft = " ".join(letter * 4 for letter in "abcdefghijklmnopqrs")
    chat.type(draft, enter=False)
    drawn(62, draft)
    for width in (110, 22, 62, 42, 100, 22, 32, 62):
        resize(width)
        drawn(width, draft)
        press("C-a")
        press("C-e")
        drawn(width, draft)
    chat.key("C-a")
    chat.type("<<<<", enter=False)
    chat.type(" ", enter=False)
    drawn(62, "<<<< " + draft)
    for width in (22, 100):
        resize(width)
        drawn(width, "<<<< " + draft)
    for _ in range(5):
        chat.key("BSpace")
    chat.key("C-e")
    drawn(100, draft)
    # Wide characters leave the last column of a row free where only half of one would fit. When lines need more rows,
    # the text above scrolls away; there must be enough of it.
    chat.key("C-u")
    chat.say("more above the draft")
    chat.say("and more")
    wide = "東京の天気は晴れ、大阪は雨、北海道は雪、沖縄は曇り、名古屋は風が強い。明日も同じ天気でしょう。" * 2
    chat.type(wide, enter=False)

    def drawn_wide(width, text):
        """The same where rows may end in a free column."""
        def rows(screen):
            after = screen.split("branch ")[-1]
            return [row.rstrip() for row in after[max(after.find(PROMPT), 0):].splitlines() if row.strip()]
        chat.wait(lambda screen: "".join(rows(screen)) == f"{PROMPT} {text}")

    drawn_wide(100, wide)
    for width in (61, 60, 45, 33, 32, 21, 100, 47, 46, 23, 110, 100):
        resize(width)
        drawn_wide(width, wide)
        press("C-a")
        press("C-e")
        drawn_wide(width, wide)
    # Keys that arrive together with the new width are neither lost nor drawn for the old width.
    for width in (61, 33, 100):
        chat.tmux("resize-window", "-x", str(width), "-y", "40", ";", "send-keys", "-l", "雨")
        wide += "雨"
        drawn_wide(width, wide)
    chat.key("C-u")
    chat.type(draft, enter=False)
    drawn(100, draft)
    chat.key("C-z")
    chat.wait(lambda screen: "Stopped" in screen and screen.rstrip().endswith("ready>"))
    chat.type("fg")
    chat.wait(lambda screen: chat.last(screen) == f"{PROMPT} {draft}" and screen.split("fg")[-1].count(draft) == 1)
    chat.tmux("set-buffer", "a\nb")
    chat.tmux("paste-buffer", "-p")  # the shell has turned off bracketed paste
    chat.wait(lambda screen: chat.last(screen) == "b")
    chat.key("C-c")
    chat.ready()
    chat.close()


if __name__ == "__main__":
    run(globals())
