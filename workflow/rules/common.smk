# Reads the experiments, before any rule asks about them.
# Takes: config/config.yaml, config/experiments/*.yaml, MLFLOW_TRACKING_URI.
# Gives: `plan`, which answers the rules' questions, and `tracking_uri`.

import sys
from pathlib import Path

from kalibre.errors import InputError
from kalibre.plan import Plan, beside
from kalibre.tracking.address import redact, resolve_uri, store_file

ENVIRONMENT = str(Path(workflow.basedir, "environment.yml"))

try:
    plan = Plan.read(
        Path("config", "experiments"),
        chosen=config.get("experiments"),
        scripts=Path(workflow.basedir, "workflow", "scripts"),
    )
    tracking_uri = resolve_uri(Path.cwd())
except InputError as error:
    # Not raised further: Snakemake would put the places in its own files around the message.
    print(error, file=sys.stderr)
    sys.exit(1)


wildcard_constraints:
    experiment="|".join(plan.experiments),
    model="|".join(plan.all_models()) or "-",
    calibrator="|".join(plan.all_calibrators()) or "-",
    rung="[a-z0-9_]+",
