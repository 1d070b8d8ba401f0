"""A program that fills its terminal: a frame, its size, the last key, and mouse reports."""

import curses


def main(window):
    curses.mousemask(curses.ALL_MOUSE_EVENTS)
    curses.raw()
    curses.start_color()
    curses.init_pair(1, curses.COLOR_RED, curses.COLOR_BLUE)
    said = "none"
    while said != "q":
        rows, columns = window.getmaxyx()
        window.erase()
        window.box()
        window.addstr(1, 2, f"size {columns}x{rows}")
        window.addstr(2, 2, f"key {said} ", curses.color_pair(1))
        window.refresh()
        key = window.getch()
        if key == curses.KEY_MOUSE:
            _, x, y, _, _ = curses.getmouse()
            said = f"mouse {x},{y}"
        elif key != curses.KEY_RESIZE:
            said = curses.keyname(key).decode()


curses.wrapper(main)
