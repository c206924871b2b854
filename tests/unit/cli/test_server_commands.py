"""The commands that are no client of a running server, and what the program says of itself."""

ID = "01890000-0000-7000-8000-0000000000aa"


def test_serve_hands_on_what_was_given_and_leaves_the_rest_to_the_settings(run, commands, tmp_path):
    assert run("serve", "--data", str(tmp_path), "--port", "0", "--json").exit_code == 0

    (options,) = commands.asked
    assert (options.data, options.port, options.json) == (tmp_path, 0, True)
    assert (options.host, options.database_url) == (None, None)


def test_reindex_asks_the_running_server(run, server, commands, operation):
    server.answers = {
        "POST /v1/reindex": operation("pending", verb="reindex"),
        f"GET /v1/operations/{ID}": operation("succeeded", report={"documents": 12}),
    }

    result = run("reindex")

    assert "12" in result.stdout
    assert commands.asked == []


def test_offline_reindex_opens_the_folder_itself(run, server, commands, tmp_path):
    assert run("reindex", "--offline", "--data", str(tmp_path)).exit_code == 0

    assert commands.asked[0].data == tmp_path
    assert server.requests == []


def test_a_folder_is_no_business_of_a_running_servers_client(run, server, commands, tmp_path):
    assert run("reindex", "--data", str(tmp_path)).exit_code == 2
    assert (server.requests, commands.asked) == ([], [])


def test_the_servers_refusal_is_one_line_too(run, commands, refusal):
    commands.refusal = refusal("Another process uses the folder.")

    result = run("demo")

    assert result.exit_code == 1
    assert result.stderr == "data_in_use: Another process uses the folder.\n"


def test_a_fault_of_the_server_is_not_hidden(run, commands):
    commands.refusal = ZeroDivisionError("oh")
    assert isinstance(run("demo").exception, ZeroDivisionError)


def test_the_version_is_told(run):
    import memserver

    assert run("--version").stdout.strip() == memserver.__version__


def test_every_command_has_a_help_text(run):
    listed = run("--help").stdout
    for name in (
        "serve import export retrieve distill consolidate undo operations keys reindex demo"
    ).split():
        assert name in listed
        assert run(name, "--help").exit_code == 0
