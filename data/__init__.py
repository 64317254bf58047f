"""The dataset behind every figure that ecolint prints; installed as `ecolint.data`.

Measurements: Hongping Zhang, EcoCompute (doi 10.5281/zenodo.19647290 and the DOIs in
sessions.csv, CC BY 4.0), and the ML.ENERGY leaderboard (Apache-2.0). Emission factors:
CodeCarbon 3.3.2 (MIT). The schema and the derived columns are ecolint's. README.md beside
this file says what each column means; only `ecolint.energy.dataset` reads the files.
"""
