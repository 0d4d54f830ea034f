"""What is told of the machine beside every table."""

import os
import pathlib
import platform
import re


def file_system(folder):
    mounts = [line.split(" ") for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
    parents = [pathlib.Path(folder), *pathlib.Path(folder).parents]
    inside = [mount for mount in mounts if pathlib.Path(mount[1]) in parents]
    best = max(inside, key=lambda mount: len(mount[1]))
    return f"{best[2]} on {best[0]}"


def machine(folder):
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", cpuinfo, re.MULTILINE)
    return {"cpu": model.group(1) if model else platform.machine(), "cores": os.cpu_count(),
            "virtual": bool(re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE)),
            "kernel": f"{platform.system()} {platform.release()}", "file_system": file_system(folder),
            "load_average": [load_average()]}


def load_average():
    return ", ".join(f"{value:.1f}" for value in os.getloadavg())


def machine_words(was):
    kind = " (virtual machine)" if was["virtual"] else ""
    return (f"Machine: {was['cpu']}, {was['cores']} cores{kind}, {was['kernel']}, {was['file_system']}. "
            f"Load average {' and '.join(was['load_average'])} (1, 5, 15 min).")
