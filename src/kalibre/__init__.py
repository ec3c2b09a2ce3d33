"""kalibre: are a classifier's probabilities true, and was its score earned?"""
