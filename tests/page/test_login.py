"""The one-time link, and what becomes of it."""

from playwright.sync_api import Browser, expect

from tests.home import Home
from tests.page.browser import login_link, open_window


def test_a_link_logs_in_once_and_does_not_stay_in_the_address(browser: Browser, shared_home: Home) -> None:
    link = login_link(shared_home)
    first, second = browser.new_context().new_page(), browser.new_context().new_page()
    first.goto(link)
    expect(first.get_by_role("navigation", name="Views")).to_be_visible()
    assert "#" not in first.url
    first.go_back()
    assert "#" not in first.url
    second.goto(link)
    expect(second.get_by_role("alert")).to_contain_text("used before")
    second.get_by_label("Or paste the link here").fill(login_link(shared_home))
    second.get_by_role("button", name="Log in").click()
    expect(second.get_by_role("navigation", name="Views")).to_be_visible()


def test_after_a_log_out_the_view_that_was_open_comes_back_with_the_next_link(
    browser: Browser, shared_home: Home
) -> None:
    page = open_window(browser, shared_home).page
    page.get_by_role("link", name="Queue", exact=True).click()
    page.locator(".header .menu summary").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_text("tarmac web")).to_be_visible()
    page.get_by_label("Or paste the link here").fill(login_link(shared_home))
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/queue")


def test_a_fresh_link_works_in_the_tab_of_a_used_one_and_a_used_one_leads_in_if_logged_in(
    browser: Browser, shared_home: Home
) -> None:
    used = login_link(shared_home)
    first = browser.new_context().new_page()
    first.goto(used)
    expect(first.get_by_role("navigation", name="Views")).to_be_visible()
    first.goto(used)
    expect(first.get_by_role("navigation", name="Views")).to_be_visible()
    second = browser.new_context().new_page()
    second.goto(used)
    expect(second.get_by_role("alert")).to_contain_text("used before")
    second.evaluate("(link) => { location.href = link }", login_link(shared_home))
    expect(second.get_by_role("navigation", name="Views")).to_be_visible()
