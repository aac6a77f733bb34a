#!/usr/bin/python3
"""Uses the page in Chromium, as a visitor does, and compares what it shows with the results of sequential scans.

    test.py [PICTURE.png]

flights.sql has been run in the database that libpq's environment variables name. The test needs Debian's chromium-driver, python3-selenium
and python3-psycopg2. It starts the page's server, and inserts flights."""
import subprocess
import sys
import time
from pathlib import Path

import psycopg2
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

HERE = Path(__file__).resolve().parent
PATIENCE = 60  # seconds

# A bar's label, calculated in another way than the page's.
LABELS = {
    "delay": "least(greatest(floor(delay / 10.0) * 10, -70), 180)::text",
    "distance": "least(floor(distance / 100.0) * 100, 2900)::text",
    "minute": "to_char(date, 'HH24:00')",
    "day": "to_char(date, 'FMDD Mon')",
}


def open_database():
    connection = psycopg2.connect("")
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute("SET rtscan.enable_aggregate = off; SET rtscan.enable_scan = off; SET enable_bitmapscan = off")
    return cursor


def query(cursor, sql):
    cursor.execute(sql)
    return cursor.fetchall()


def expected(cursor, brushes):
    """The contents of the page under these brushes: column -> (from, to)."""
    conditions = {column: f"{column} >= {first} AND {column} < {end}" for column, (first, end) in brushes.items()}

    def where(but=None):
        return " AND ".join(["true", *(condition for column, condition in conditions.items() if column != but)])

    shown = {name: dict(query(cursor, f"SELECT {label}, count(*) FROM flights WHERE {where(name)} GROUP BY 1")) for name, label in LABELS.items()}
    shown["selected"], shown["longest"] = query(cursor, f"SELECT count(*), max(delay) FROM flights WHERE {where()}")[0]
    shown["total"] = query(cursor, "SELECT count(*) FROM flights")[0][0]
    return shown


# ---------------------------------------------------------------- the page

def start_server():
    server = subprocess.Popen(["node", HERE / "server.js"], stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().strip()


def start_browser():
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1100,1050"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def number(text):
    return int(text.replace(",", "").replace("\N{MINUS SIGN}", "-"))


def text_of(browser, selector):
    return browser.execute_script("return document.querySelector(arguments[0])?.textContent ?? ''", selector)


def bars(browser, name):
    titles = browser.execute_script("return Array.from(document.querySelectorAll(`#${arguments[0]} rect title`), title => title.textContent)", name)
    pairs = [title.rsplit(": ", 1) for title in titles]
    return {label.replace("\N{MINUS SIGN}", "-"): number(count) for label, count in pairs}


def shown(browser):
    page = {name: bars(browser, name) for name in LABELS}
    page["selected"] = number(text_of(browser, "#selected"))
    page["longest"] = number(text_of(browser, "tbody td"))
    page["total"] = number(text_of(browser, "#total"))
    return page


def move_mouse(browser, name, part, moves=None):
    """Move the mouse to this part of a histogram's width, when the moves are performed."""
    overlay = browser.find_element(By.CSS_SELECTOR, f"#{name} .overlay")
    moves = moves or webdriver.ActionChains(browser, duration=50)
    return moves.move_to_element_with_offset(overlay, round((part - 0.5) * overlay.rect["width"]), 0)


def brush(browser, name, first, end):
    """Drag over these parts of a histogram's width; return the range that the page then names. A mere click removes the brush."""
    drag = move_mouse(browser, name, first).click_and_hold()
    for part in (0.5, 1):
        move_mouse(browser, name, first + (end - first) * part, drag)
    drag.release().perform()
    named = text_of(browser, f"#{name} .brushed")
    return tuple(map(number, named.split(" to "))) if named else None


# ---------------------------------------------------------------- what is tested

def await_that(what, condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def await_answers(browser, cursor, brushes):
    """The page soon shows what there is."""
    wanted = {}

    def same():
        wanted.update(expected(cursor, brushes))
        return shown(browser) == wanted

    try:
        await_that("the page shows something else", same)
    except AssertionError:
        print("shown:", shown(browser), "expected:", wanted, sep="\n")
        raise
    print(f"{wanted['selected']} of {wanted['total']} flights under {brushes}")
    return wanted


def check_mouse(browser, cursor, name, part):
    """Under the mouse are a bar's label and count, and below the histograms the statement that counts so."""
    move_mouse(browser, name, part).perform()
    pointed = text_of(browser, f"#{name} .pointed")
    label, count = pointed.removesuffix(" flights").replace("\N{MINUS SIGN}", "-").rsplit(": ", 1)
    counts = bars(browser, name)
    assert counts[label] == number(count) > 0, (pointed, counts)
    statement = text_of(browser, "#statement")
    assert sorted(count for _, count in query(cursor, statement)) == sorted(counts.values()), statement
    print(f"{pointed}, by {statement}")


def sequential_scans(cursor):
    query(cursor, "SELECT pg_stat_force_next_flush()")
    return query(cursor, "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'flights'")[0][0]


def check_without_index(browser, cursor, brushes):
    """The switch makes the server scan the table, with the same answers, and back."""
    switch = browser.find_element(By.ID, "without")
    before = sequential_scans(cursor)
    switch.click()
    await_that("the index is still used", lambda: "without the index" in text_of(browser, "#time"))
    await_that("the table is not scanned", lambda: sequential_scans(cursor) > before)
    await_answers(browser, cursor, brushes)
    print(text_of(browser, "#time"))
    switch.click()
    await_that("the index is not used again", lambda: "with the index" in text_of(browser, "#time"))
    print(text_of(browser, "#time"))
    await_answers(browser, cursor, brushes)


def test(browser, cursor, picture):
    await_that("the page shows nothing", lambda: text_of(browser, "tbody td"))
    before = await_answers(browser, cursor, {})
    assert before["selected"] == before["total"]

    brushes = {"distance": brush(browser, "distance", 0.25, 0.6)}
    one = await_answers(browser, cursor, brushes)
    assert 0 < one["selected"] < before["selected"]
    brushes["delay"] = brush(browser, "delay", 0.4, 0.7)
    two = await_answers(browser, cursor, brushes)
    assert 0 < two["selected"] < one["selected"]
    check_mouse(browser, cursor, "delay", 0.5)
    check_without_index(browser, cursor, brushes)
    check_mouse(browser, cursor, "minute", 0.6)
    if picture:
        browser.save_screenshot(picture)

    query(cursor, """INSERT INTO flights (date, delay, distance, minute, origin, destination)
        SELECT date, delay, distance, minute, origin, destination FROM flights LIMIT 1000 RETURNING 1""")
    other = await_answers(browser, cursor, brushes)
    assert other["total"] == two["total"] + 1000

    switch = browser.find_element(By.ID, "insert")
    switch.click()
    await_that("no flights are inserted", lambda: number(text_of(browser, "#total")) > other["total"])
    switch.click()
    del brushes["delay"]
    brush(browser, "delay", 0.9, 0.9)
    grown = await_answers(browser, cursor, brushes)
    assert grown["total"] > other["total"] and grown["selected"] > one["selected"]

    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors, errors


def main(picture=None):
    cursor = open_database()
    server, address = start_server()
    browser = None
    try:
        browser = start_browser()
        browser.get(address)
        test(browser, cursor, picture)
    finally:
        if browser:
            browser.quit()
        server.terminate()
    print("ok")


main(*sys.argv[1:])
