package main

// listPackages prints what `pip list` would, without pip: environments made by uv have none, and
// importlib needs a tenth of the time.
const listPackages = `import importlib.metadata as m, json
print(json.dumps([
    {"name": d.name.replace("_", "-"), "version": d.version, "location": str(d.locate_file(""))}
    for d in m.distributions()
]))`
