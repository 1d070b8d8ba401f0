"""`demo`: broken programs and shipped cases to try the console on."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ladder_tui.cli.output import headless, print_json, print_lines
from ladder_tui.cli.parser import UsageError, add_json, add_record, add_screen


def configure(parser: ArgumentParser) -> None:
    """Arguments of `demo`."""
    parser.add_argument("name", nargs="?", help="which one; without it all are listed")
    parser.add_argument(
        "--install-cuda-gdb", action="store_true", help="unpack Debian's cuda-gdb for the GPU demos, without root"
    )
    parser.add_argument(
        "--live", action="store_true", help="run it on this machine's GPU, instead of opening its shipped case"
    )
    add_json(parser)
    add_record(parser)
    add_screen(parser)


def run(arguments: Namespace) -> int:
    """Open a demo, list them, or install what the GPU demos need."""
    if arguments.install_cuda_gdb:
        from ladder_tui.cli.install_cuda_gdb import install

        code = install()
        if code or arguments.name is None:
            return code
    if arguments.name is None:
        if arguments.live:
            raise UsageError("demo", "--live needs a name", "ladder-tui demo vector-add --live")
        return _list(json_wanted=arguments.json)

    from ladder_demos.rank_jobs import RANK_DEMOS, find_rank_demo

    job = find_rank_demo(arguments.name)
    if job is not None:
        from ladder_tui.cli.demo_ranks import run_job

        return run_job(job, json_wanted=arguments.json)

    from ladder_backends.debugger.target import LaunchTarget
    from ladder_demos.catalogue import find_demo
    from ladder_tui.opening import demo_opening

    demo = find_demo(arguments.name, also=(each.name for each in RANK_DEMOS))
    opening = demo_opening(demo, record=arguments.record, live=arguments.live)
    if not headless(json_wanted=arguments.json):
        from ladder_tui.cli.screen import show

        return show(opening, theme=arguments.theme)
    if opening.plan is not None:
        from ladder_tui.cli.sanitize_run import run_to_the_end as sanitize_to_the_end

        return sanitize_to_the_end(opening.plan, None, json_wanted=arguments.json)
    if isinstance(opening.target, LaunchTarget):
        from ladder_tui.cli.session_run import run_to_the_end, show_json, show_text

        tell = show_json if arguments.json else show_text
        return run_to_the_end(opening.target, tell, debugger=opening.debugger, record=opening.record)
    from ladder_tui.cli.opened_text import print_opened

    return print_opened(opening.files, json_wanted=arguments.json, record=opening.record)


def _list(*, json_wanted: bool) -> int:
    from ladder_demos.catalogue import DEMOS
    from ladder_demos.rank_jobs import RANK_DEMOS

    if json_wanted:
        rows = [
            {
                "name": demo.name,
                "title": demo.title,
                "shows": demo.shows,
                "rung": demo.rung,
                "kind": str(demo.kind),
                "shipped": demo.shipped,
                "live": demo.live.rung if demo.live is not None else None,
            }
            for demo in DEMOS
        ]
        rows += [
            {
                "name": job.name,
                "title": job.title,
                "shows": job.shows,
                "rung": "ranks",
                "kind": "job",
                "shipped": True,
                "live": None,
            }
            for job in RANK_DEMOS
        ]
        print_json({"format": 1, "demos": rows})
        return 0
    width = max(len(demo.name) for demo in DEMOS)
    for demo in DEMOS:
        title = demo.title if demo.shipped else f"{demo.title}; needs a GPU and --live"
        print_lines([f"{demo.name:{width}}  {title}", f"{'':{width}}  {demo.shows}"])
    for job in RANK_DEMOS:
        print_lines([f"{job.name:{width}}  {job.title}", f"{'':{width}}  {job.shows}"])
    elsewhere = "" if all(demo.shipped for demo in DEMOS) else ", where none is asked for above"
    last = f"ladder-tui demo NAME opens one without a GPU{elsewhere}; --live runs it on this machine's GPU instead"
    print_lines(["", last])
    return 0
