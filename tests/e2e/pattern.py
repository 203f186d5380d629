# SPDX-License-Identifier: ISC
"""Regular expressions of the search against Python's own, at random and one by one."""
import os
import random
import re
import warnings

from harness import BUILD, case, equal, main, run

SUBJECT = os.path.join(BUILD, 'tests', 'pattern-subject')
ROUNDS = int(os.environ.get('WEFT_PATTERN_ROUNDS', 4000))
# Python warns of expressions that a later version may read differently.
warnings.simplefilter('ignore', FutureWarning)


def coded(text):
    return '.' + (text if isinstance(text, bytes) else text.encode()).hex()


def ask(questions):
    """For each (letter, expression, texts) a list of answers, None for a bad expression, [] for one that is too large."""
    lines = ['%s %s %s\n' % (letter, coded(expression), ' '.join(coded(t) for t in texts))
             for letter, expression, texts in questions]
    result = run([SUBJECT], input=''.join(lines), processor=300)
    equal(result.returncode, 0, result.stderr)
    answers = result.stdout.splitlines()
    equal(len(answers), len(questions))
    return [None if a.startswith('E') else [c == '1' for c in a.strip('L')] for a in answers]


def python_says(letter, expression, texts):
    flags = re.ASCII | re.DOTALL | (re.IGNORECASE if letter == 'i' else 0)
    try:
        compiled = re.compile(expression, flags)
    except re.error:
        return None
    return [compiled.search(t) is not None for t in texts]


def random_atom(rng, depth):
    chance = rng.random()
    if chance < 0.2 and depth < 4:
        return rng.choice(['(%s)', '(?:%s)']) % random_expression(rng, depth + 1)
    if chance < 0.35:
        return rng.choice(['[ab]', '[^a]', '[a-c]', '[^b-z]', '[]a]', '[^]a]', '[a-]', r'[\d_]', r'[^\w]',
                           '[A-b]', r'[\]x]', '[\u00e0-\u00e9]', r'[\x41-C]'])
    if chance < 0.45:
        return rng.choice([r'\d', r'\w', r'\s', r'\D', r'\W', r'\S', r'\.', r'\t', r'\x62', '.'])
    if chance < 0.52:
        return rng.choice(['^', '$'])
    return rng.choice('aabbcABC1 .\u00e9\u4e16')


def random_repeated(rng, depth):
    atom = random_atom(rng, depth)
    if atom in '^$' or rng.random() < 0.6:
        return atom
    return atom + rng.choice(['*', '+', '?', '*?', '+?', '{2}', '{1,}', '{,2}', '{0,3}', '{1,2}?', '{', '{x}'])


def random_expression(rng, depth=0):
    parts = [''.join(random_repeated(rng, depth) for _ in range(rng.choice([0, 1, 2, 3, 5])))
             for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    return '|'.join(parts)


def random_text(rng):
    return ''.join(rng.choice('aaabbbcABCz1_ .-]\t\u00e9\u00e7\u4e16') for _ in range(rng.choice([0, 1, 3, 8, 20])))


@case
def random_expressions_match_as_in_python():
    rng = random.Random(7)
    questions = [(rng.choice('ic'), random_expression(rng), [random_text(rng) for _ in range(12)])
                 for _ in range(ROUNDS)]
    matched = large = 0
    for question, answer in zip(questions, ask(questions)):
        if answer == []:
            large += 1
            assert len(question[1]) > 40, question
        else:
            equal((question, answer), (question, python_says(*question)))
        matched += sum(answer or [])
    assert large < ROUNDS / 100, large
    assert ROUNDS < matched < 11 * ROUNDS, matched


@case
def random_noise_is_an_expression_or_not_as_in_python():
    rng = random.Random(8)
    # Without the features of Python alone: look-around, back references, other escapes, repeated ^ and $.
    noise = [''.join(rng.choice('ab()[]|*+?{}1,-.') for _ in range(rng.choice([1, 3, 6, 10])))
             for _ in range(ROUNDS)]
    noise = [n for n in noise if not re.search(r'\(\?|\[[^]]*\[|--|\*\+|\+\+|\?\+|\}\+', n)]
    questions = [('c', n, ['', 'a', 'ab', 'aab1', '(', '[b]', 'a{1,}', 'ba|']) for n in noise]
    good = 0
    for question, answer in zip(questions, ask(questions)):
        equal((question, answer), (question, python_says(*question)))
        good += answer is not None
    assert ROUNDS / 20 < good < ROUNDS * 0.9, good


@case
def bad_expressions_say_where():
    cases = {'a**': 2, '*a': 0, '(a': 0, 'a)': 1, '[a': 0, 'a|+': 2, 'a{3,2}': 1, '\\': 0, '[b-a]': 1, '(?=a)': 0,
             'a{2000}': 1, '\\q': 0, '\\x4': 0, '(' * 101: 100}
    lines = ''.join('c %s\n' % coded(expression) for expression in cases)
    result = run([SUBJECT], input=lines)
    equal(result.stdout.splitlines(), ['E %d' % offset for offset in cases.values()])


@case
def expressions_that_explode_elsewhere_do_not():
    long_text = 'a' * 20000
    questions = [('c', '(a*)*b', [long_text]), ('c', '(a|a)*b', [long_text]), ('c', '(a?){30}a{30}$', ['a' * 30]),
                 ('c', '(a|b)*a(a|b){12}$', ['ab' * 5000, 'b' * 20 + 'a' + 'b' * 12]),
                 ('c', '((((){500}){500}){500}){500}', ['']), ('c', '(((a{100}){100}){100})', ['a']),
                 ('c', 'a(a|b){300}c', ['a'])]
    equal(ask(questions), [[False], [False], [True], [False, True], [], [], []])


@case
def bytes_that_are_no_text_are_matched_as_one_character():
    equal(ask([('c', '^a.b$', [b'a\xffb', b'a\xc3\xa9b', b'a\xe4\xb8b', b'ab']), ('l', b'\xff', [b'\xfe', b'x'])]),
          [[True, True, True, False], [True, False]])


@case
def literal_text_has_no_special_characters():
    equal(ask([('l', 'a.b*', ['xa.b*y', 'aab', 'A.B*']), ('l', '\u00e9', ['caf\u00e9', 'cafe'])]),
          [[True, False, False], [True, False]])


main()
