"""A first session: append, read, branch. Run after bindings/python/build and pip install of the wheel it made."""
import bough

with bough.Store("memory:") as store:
    session = store.create(title="Trees")
    asked = session.append(bough.user_text("Name a tree.")).last_id
    session.append(bough.assistant_text("Oak."))
    session.move_head(asked)  # go back and take another way
    session.append(bough.assistant_text("Beech."))
    for entry in session.history():
        print(entry.payload["message"]["role"], "-", entry.payload["message"]["content"])
    print(len(session.branches()), "branches")
