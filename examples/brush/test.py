#!/usr/bin/python3
"""Uses the page as a person would, in Chromium, and compares what it shows with what sequential scans find.

    test.py [PICTURE.png]

flights.sql has been run in the database that libpq's environment variables name. It takes Debian's chromium-driver, python3-selenium and
python3-psycopg2, and starts the server by itself. It inserts flights."""
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

# What a bar's label is, calculated in another way than the page's.
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
    """What the page should show under such brushes: column -> (from, to)."""
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
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1100,950"]:
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


def brush(browser, name, first, end):
    """Drag over these parts of a histogram's width; return the range that the page then names. A mere click removes the brush."""
    overlay = browser.find_element(By.CSS_SELECTOR, f"#{name} .overlay")
    width = overlay.rect["width"]
    drag = webdriver.ActionChains(browser, duration=50)
    drag.move_to_element_with_offset(overlay, round((first - 0.5) * width), 0).click_and_hold()
    for part in (0.5, 1):
        drag.move_to_element_with_offset(overlay, round((first + (end - first) * part - 0.5) * width), 0)
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
