"""A sentence of a treebank with a token of two words."""

DOGS = """# text = Dogs don't bark.
1	Dogs	dog	NOUN	NNS	Number=Plur	4	nsubj	_	_
2-3	don't	_	_	_	_	_	_	_	_
2	do	do	AUX	VBP	Mood=Ind	4	aux	_	_
3	n't	not	PART	RB	_	4	advmod	_	_
4	bark	bark	VERB	VB	VerbForm=Inf	0	root	_	SpaceAfter=No
5	.	.	PUNCT	.	_	4	punct	_	_

"""
