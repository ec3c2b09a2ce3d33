"""Which of the measured numbers could be chance, and how far from the truth may they lie?"""
