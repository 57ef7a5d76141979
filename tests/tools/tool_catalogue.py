"""A made-up list of a hundred tools, as an agent of a small firm might have them, and what people ask of it.

Several tools lie close together (four kinds of messages, three of searches): that is where picking goes wrong.
"""

from __future__ import annotations

from typing import Any

# name | what it does | parameters, as name: description; …
_TOOLS = """
email_send | Send an email to one or more people. | to: addresses of the recipients; subject; body; attachments: files to attach
email_search | Search the mailbox for messages by sender, date or words. | query; sender; since: earliest date
email_read | Read one email with its headers and attachments. | message_id
email_archive | Move a message out of the inbox into the archive. | message_id
email_draft_reply | Write a draft of an answer to an email without sending it. | message_id; tone: formal, friendly
calendar_create_event | Put a meeting or appointment into the calendar and invite people. | title; start; end; attendees
calendar_list_events | List the appointments between two dates. | start; end
calendar_find_free_time | Find times at which all participants are free. | attendees; duration_minutes
calendar_cancel_event | Cancel a meeting and tell everybody who was invited. | event_id; reason
contacts_lookup | Look up a person's phone number, address and employer. | name
contacts_add | Add a new person to the address book. | name; phone; email
chat_post_message | Post a message to a channel of the team chat. | channel; text
chat_direct_message | Send a private chat message to a colleague. | user; text
chat_channel_history | Read the latest messages of a chat channel. | channel; limit
chat_create_channel | Open a new channel in the team chat. | name; private: whether only invited people see it
sms_send | Send a text message to a mobile phone. | phone_number; text
phone_call | Ring a phone number and read a text aloud. | phone_number; text
files_list | List the files and folders below a path. | path
files_read | Read the contents of a file as text. | path
files_write | Write text to a file, replacing what it held. | path; text
files_delete | Delete a file or an empty folder for good. | path
files_move | Move or rename a file. | source; destination
files_search | Find files by name or by words inside them. | pattern; folder
archive_zip | Pack files into a compressed zip archive. | paths; target
archive_unzip | Unpack a zip archive into a folder. | archive; folder
pdf_extract_text | Get the text out of a PDF document. | path; pages
pdf_merge | Join several PDF documents into one. | paths
image_resize | Change width and height of a picture. | path; width; height
image_describe | Say in words what can be seen in a picture. | path
image_generate | Draw a picture from a description in words. | prompt; style
image_ocr | Recognise printed or handwritten text in a scanned page or photo. | path; language
audio_transcribe | Turn spoken words of a recording into text. | path; language
audio_speak | Read a text aloud with a synthetic voice. | text; voice
video_cut | Cut a piece out of a video between two times. | path; start; end
translate_text | Translate a text from one language into another. | text; target_language
summarize_text | Shorten a long text to its main points. | text; sentences
spellcheck | Find spelling and grammar mistakes and propose corrections. | text
web_search | Search the public internet and return pages. | query
web_fetch | Download a web page and return its readable text. | url
web_screenshot | Take a screenshot of a web page. | url; width
rss_read | Read the newest entries of a news feed. | feed_url
weather_current | Tell temperature, wind and rain at a place right now. | place; unit: celsius, fahrenheit
weather_forecast | Tell the weather of the coming days at a place. | place; days
maps_route | Find the way between two places with distance and time. | origin; destination; mode: car, foot, bicycle, train
maps_geocode | Turn a postal address into latitude and longitude. | address
maps_nearby | Find restaurants, shops or cash machines around a place. | place; kind
travel_search_flights | Find flights between two airports on a date, with prices. | origin; destination; date
travel_book_hotel | Reserve a room in a hotel. | city; check_in; check_out
travel_train_times | Look up departures of trains at a station. | station; when
currency_convert | Convert an amount of money from one currency into another at today's rate. | amount; source; target
stock_quote | Tell the latest price of a share. | symbol
unit_convert | Convert lengths, weights and volumes between units. | value; source_unit; target_unit
calculator | Work out an arithmetic expression. | expression
statistics_describe | Compute mean, median and standard deviation of a column of numbers. | values
chart_draw | Draw a line, bar or pie chart from numbers. | data; kind: line, bar, pie
date_difference | Count the days, weeks or working days between two dates. | start; end
timezone_convert | Tell what time it is elsewhere when it is a given time here. | time; source_zone; target_zone
reminder_set | Remind the user of something at a given time. | text; when
timer_start | Count down some minutes and then ring. | minutes
todo_add | Add an item to the list of things to do. | text; due
todo_list | Show the things that are still to be done. | list_name
todo_complete | Tick off an item of the to-do list. | item_id
notes_create | Write down a note. | title; text
notes_search | Look through the user's notes. | query
db_query | Run a read-only SQL query against the sales database. | sql
db_list_tables | List the tables of the database with their columns. | schema
db_export_csv | Save the rows of a table as a CSV file. | table; path
spreadsheet_read | Read cells of a spreadsheet. | file; range
spreadsheet_write | Write values into cells of a spreadsheet. | file; range; values
crm_find_customer | Find a customer by name, number or company. | query
crm_update_customer | Change the address or contact data of a customer. | customer_id; fields
crm_log_activity | Note down a call or a visit with a customer. | customer_id; text
order_status | Tell where an order is and when it will arrive. | order_id
order_cancel | Cancel an order that has not been shipped. | order_id
order_refund | Pay a customer's money back for an order. | order_id; amount
invoice_create | Make out a bill for a customer. | customer_id; items
invoice_list_overdue | List the bills that have not been paid in time. | days
payment_charge_card | Charge an amount to a credit card. | customer_id; amount
inventory_check | Tell how many pieces of an article are in stock. | article
inventory_reorder | Order more of an article from the supplier. | article; quantity
shipping_label | Print a label for a parcel. | order_id; carrier
shipping_track | Follow a parcel by its tracking number. | tracking_number
hr_request_leave | Apply for holiday or sick leave. | start; end; kind
hr_payslip | Fetch the payslip of a month. | month
hr_list_openings | List the jobs that the firm has to fill. | department
git_commit | Record changed files in the repository with a message. | message; files
git_diff | Show what has changed between two versions of the code. | base; head
git_create_branch | Start a new branch of the repository. | name
github_create_issue | Report a bug or a wish in a repository. | repository; title; body
github_create_pull_request | Propose changes of a branch for review and merging. | repository; branch; title
github_list_pull_requests | List the changes that wait for review. | repository
ci_run_tests | Run the test suite and report failures. | branch
ci_deploy | Bring a version of the service into production. | version; environment: staging, production
logs_search | Search the log lines of the servers. | query; since
server_restart | Restart a service on a server. | service
metrics_query | Read measurements such as load, memory and errors over time. | metric; since
incident_page_oncall | Wake the engineer on call about an outage. | message; severity
user_reset_password | Reset the password of an account and send a link. | user
user_grant_access | Give a person permission to use a system. | user; system; role
home_set_thermostat | Set the temperature of the heating in a room. | room; degrees
home_lights | Switch lamps on or off and dim them. | room; brightness
home_lock_door | Lock or unlock the front door. | locked
music_play | Play a song, an album or an artist. | query
recipe_find | Find a recipe for some ingredients. | ingredients; diet
"""

# what is asked | the tool that should be among those shown
_REQUESTS = """
write to anna@example.org that the contract is ready | email_send
did Peter mail me anything about the budget last week? | email_search
get this message out of my inbox | email_archive
prepare an answer to that mail, but don't send it yet | email_draft_reply
set up a meeting with Marta on Tuesday at ten | calendar_create_event
what do I have on Thursday? Show my appointments | calendar_list_events
when could all five of us meet for an hour? | calendar_find_free_time
call off the meeting tomorrow | calendar_cancel_event
what is Dr Klein's phone number? | contacts_lookup
tell the #release channel that we are done | chat_post_message
ping Jonas privately in chat | chat_direct_message
text my mother's mobile that I'm late | sms_send
what's in the folder reports? | files_list
show me what is written in config.toml | files_read
remove the temporary file | files_delete
rename draft.txt to final.txt | files_move
which of my documents mention the word warranty? | files_search
compress these files so I can send them | archive_zip
combine the three PDFs into one document | pdf_merge
pull the words out of contract.pdf | pdf_extract_text
make this photo smaller, 800 pixels wide | image_resize
what is in this picture? | image_describe
draw me a fox in watercolour | image_generate
I scanned a letter, get the text from the scan | image_ocr
type up the recording of the interview | audio_transcribe
say this in Portuguese | translate_text
give me the gist of this long report | summarize_text
are there typos in my letter? | spellcheck
look on the internet for reviews of heat pumps | web_search
open https://example.org and tell me what it says | web_fetch
do I need an umbrella in Oslo tomorrow? | weather_forecast
how cold is it in Turin now? | weather_current
how do I get from Ghent to Bruges by bike? | maps_route
is there a pharmacy near the station? | maps_nearby
find me a cheap plane ticket to Lisbon on 3 May | travel_search_flights
book me somewhere to stay in Vienna for two nights | travel_book_hotel
when does the next train leave from Basel? | travel_train_times
how much is 250 dollars in euros? | currency_convert
what's the share price of Siemens? | stock_quote
how many litres are three gallons? | unit_convert
what is 17 percent of 3,420? | calculator
make a bar chart of sales by month | chart_draw
how many working days until 24 December? | date_difference
if it is 3 pm in Berlin, what time is it in Tokyo? | timezone_convert
don't let me forget to call the dentist at four | reminder_set
what do I still have to do today? | todo_list
jot down this idea | notes_create
what was our revenue in March? ask the sales database with SQL | db_query
which tables does the database have? | db_list_tables
put the totals into cell B7 of the budget spreadsheet | spreadsheet_write
has order 4711 been shipped yet, where is it? | order_status
the customer wants her money back | order_refund
bill Acme for the consulting days | invoice_create
who hasn't paid us yet? | invoice_list_overdue
do we still have the blue lamp in stock? | inventory_check
we are running out of paper, get more from the supplier | inventory_reorder
where is parcel 00340434? | shipping_track
I want to take two weeks of holiday in August | hr_request_leave
how much was I paid in June? get my payslip | hr_payslip
what did I change in the code since yesterday? | git_diff
file a bug about the login page | github_create_issue
open a pull request for my branch | github_create_pull_request
which reviews are waiting for me? | github_list_pull_requests
do the tests still pass? | ci_run_tests
ship version 2.4 to production | ci_deploy
look for timeouts in the server logs | logs_search
the payment service hangs, restart it | server_restart
the shop is down, get the on-call engineer out of bed | incident_page_oncall
I can't log in any more, I forgot my password | user_reset_password
give Lena access to the warehouse system | user_grant_access
it's too cold in the bedroom, turn the heating up | home_set_thermostat
dim the lamps in the living room | home_lights
put on some Nina Simone | music_play
what can I cook with leeks and potatoes? | recipe_find
"""

# What none of the tools is for.
OFF_TOPIC = (
    "why did the Roman republic fall?",
    "explain the proof of the four colour theorem",
    "is a tomato a fruit or a vegetable?",
    "who wrote the Brothers Karamazov?",
    "what is the meaning of life?",
    "tell me a joke about penguins",
    "how do volcanoes form?",
    "thanks, that was kind of you",
)


def _rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]


def tools() -> list[dict[str, Any]]:
    """The list as an MCP server would give it."""
    listed = []
    for name, description, parameters in _rows(_TOOLS):
        properties = {}
        for parameter in parameters.split(";"):
            key, _, text = parameter.partition(":")
            properties[key.strip()] = {"type": "string", **({"description": text.strip()} if text else {})}
        schema = {"type": "object", "properties": properties}
        listed.append({"name": name, "description": description, "inputSchema": schema})
    return listed


def requests() -> list[tuple[str, str]]:
    """What is asked, with the tool that should be found."""
    return [(request, name) for request, name in _rows(_REQUESTS)]
