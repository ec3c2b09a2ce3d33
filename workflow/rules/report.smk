# Pages that people look at.
# Takes: an experiment's records and the tables beside them. Gives: report.html, figures, results/index.html.

from kalibre.pages.inputs import lab_models, lab_scores, page_records
from kalibre.pages.material import material_files
from kalibre.pages.static import asset_files


localrules:
    report,


rule bundle_charts:
    """Lay the charts' library together: making it costs more than a page."""
    input:
        code=plan.code("bundle_charts"),
    output:
        library="results/bundle_charts/charts.js",
    log:
        "logs/bundle_charts.log",
    conda:
        ENVIRONMENT
    message:
        "lay the charts' library together"
    script:
        "../scripts/bundle_charts.py"


rule report_page:
    """Write one experiment's page, and its figures as pictures."""
    input:
        records=lambda w: page_records(plan, w.experiment),
        tables=lambda w: material_files(page_records(plan, w.experiment)),
        scores=lambda w: lab_scores(plan, w.experiment),
        settings="results/{experiment}/settings.json",
        ledger="config/published.csv",
        library="results/bundle_charts/charts.js",
        assets=[os.path.relpath(path) for path in asset_files()],
        code=plan.code("report_page"),
    output:
        page=report(
            "results/{experiment}/report.html",
            caption="../report/page.rst",
            category="{experiment}",
            labels={"what": "page"},
        ),
        scores=report(
            "results/{experiment}/report_page/scores.csv",
            caption="../report/scores.rst",
            category="{experiment}",
            labels={"what": "scores"},
        ),
        figures=report(
            directory("results/{experiment}/report_page/figures"),
            patterns=["{figure}.svg"],
            caption="../report/figure.rst",
            category="{experiment}",
            subcategory="figures",
            labels={"what": "{figure}"},
        ),
        record="results/{experiment}/report_page/record.json",
    log:
        "logs/{experiment}/report_page.log",
    benchmark:
        "logs/{experiment}/report_page.tsv"
    conda:
        ENVIRONMENT
    params:
        settings=lambda w: plan.of(w.experiment).settings(),
        labs=lambda w: lab_models(plan, w.experiment),
    message:
        "{wildcards.experiment}: write the page"
    script:
        "../scripts/report_page.py"


rule report_index:
    """Write the index of all pages, with the ledger's state."""
    input:
        records=expand("results/{experiment}/report_page/record.json", experiment=plan.selected),
        published="results/published.csv",
        claims="results/claims.csv",
        assets=[os.path.relpath(path) for path in asset_files()],
        code=plan.code("report_index"),
    output:
        page=report(
            "results/index.html",
            caption="../report/index.rst",
            category="all experiments",
            labels={"what": "index"},
        ),
    log:
        "logs/report_index.log",
    conda:
        ENVIRONMENT
    message:
        "write the index of all pages"
    script:
        "../scripts/report_index.py"


rule report:
    """Every experiment's page, and the index."""
    input:
        expand("results/{experiment}/report.html", experiment=plan.selected),
        "results/index.html",
    message:
        "the pages: open results/index.html"
