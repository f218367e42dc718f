#!/usr/bin/env python3
"""Holds the proven reference against the independent oracle, bit for bit: every value, its distance
from the real number and what is said about its proof, over random draws from a fixed seed with the
edges of every scheme among them.

usage: independent_reference.py POSGAUGE_REFERENCE_SERVER [--seed N] [--values N]
Exit code 1 if anything differs, if a value is undecided, or if a cell has fewer values than asked.
"""
import argparse
import collections
import json
import subprocess
import sys
import tempfile

from independent import oracle
from independent.draws import Draw, quantities_of, questions

PROOFS = {"e": "exact", "p": "proven", "u": "undecided"}


def as_json(question):
    """Numbers of the inputs as hex floats; those of the scheme as JSON has them, which is exact."""
    def shown(value):
        if isinstance(value, float):
            return value.hex()
        return [number.hex() for number in value] if isinstance(value, list) else value
    return json.dumps({key: value if key == "scheme" else shown(value)
                       for key, value in question.items()})


def expected(question, oracles):
    """{output: [(value, proof, distance)]}, or None where the scheme is refused. `oracles` keeps the
    last one: questions about one scheme come in a row."""
    key = json.dumps(question["scheme"])
    if oracles.get("key") != key:
        oracles.update(key=key, oracle=oracle.of(question["scheme"]))
    given = {key: value for key, value in question.items()
             if key not in ("scheme", "quantity", "dtype")}
    try:
        return oracles["oracle"].ask(question["quantity"], question["dtype"], **given)
    except oracle.Refused:
        return None


def differences(question, wanted, answer):
    """Lines that say what differs."""
    if wanted is None or "error" in answer:
        if wanted is None and "inverted" in answer.get("error", ""):
            return
        yield "{}, but the oracle {}".format(
            answer.get("error", "answered"), "refuses it" if wanted is None else "answers")
        return
    if set(answer) != set(wanted):
        yield "outputs {}, not {}".format(sorted(answer), sorted(wanted))
        return
    unaware = oracle.may_be_unaware(question["scheme"], question["quantity"])
    for output, wants in wanted.items():
        got = answer[output]
        has_distances = question["dtype"] in oracle.WITH_DISTANCES
        distances = got["distances"] if has_distances else [0] * len(wants)
        if (len(got["values"]), len(got["proofs"]), len(distances)) != (len(wants),) * 3 or (
                not has_distances and got["distances"]):
            yield "{}: wrong number of values, proofs or distances".format(output)
            continue
        for i, (value, proof, distance, want) in enumerate(
                zip(got["values"], got["proofs"], distances, wants)):
            if not oracle.same(float.fromhex(value), want[0]):
                yield "{}[{}] is {}, not {}".format(output, i, value, want[0].hex())
            elif proof != want[1] and not (proof == "p" and unaware):
                yield "{}[{}] = {} is said to be {}, not {}".format(
                    output, i, value, PROOFS[proof], PROOFS[want[1]])
            elif has_distances and distance != want[2]:
                yield "{}[{}] = {} is said to be {} / 2^16 ulp from the real number, not {}".format(
                    output, i, value, distance, want[2])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--seed", type=int, default=20240914)
    parser.add_argument("--values", type=int, default=10000,
                        help="least number of values of every scheme and quantity")
    arguments = parser.parse_args()

    asked, counts, oracles = [], collections.Counter(), {}
    with tempfile.TemporaryFile("w+") as answers:
        server = subprocess.Popen([arguments.server], stdin=subprocess.PIPE, stdout=answers,
                                  text=True)
        drawn = questions(Draw(arguments.seed), arguments.values)
        size = None
        try:
            while True:
                question = drawn.send(size)
                server.stdin.write(as_json(question) + "\n")
                wanted = expected(question, oracles)
                size = None if wanted is None else sum(map(len, wanted.values()))
                asked.append((question, wanted))
        except StopIteration:
            pass
        server.stdin.close()
        if server.wait() != 0:
            print("the server ended with code {}".format(server.returncode))
            return 1
        answers.seek(0)
        lines = answers.read().splitlines()
    if len(lines) != len(asked):
        print("{} answers to {} questions".format(len(lines), len(asked)))
        return 1

    wrong = undecided = refused = 0
    for (question, wanted), line in zip(asked, lines):
        answer = json.loads(line)
        undecided += sum(got["proofs"].count("u") for got in answer.values()
                         if isinstance(got, dict))
        refused += wanted is None
        cell = question["scheme"]["scheme"], question["quantity"]
        counts[cell] += sum(map(len, (wanted or {}).values()))
        for difference in differences(question, wanted, answer):
            wrong += 1
            if wrong <= 20:
                print(difference)
                print("  asked: {}".format(as_json(question)[:2000]))
    for name in [*oracle.SCHEMES, *oracle.ADDITIONS, *oracle.GIVEN_ROWS, *oracle.ATTENTIONS]:
        print("{:14}".format(name), *("{} {}".format(quantity, counts[name, quantity])
                                     for quantity in quantities_of(name)), sep="  ")
    print("{} values, {} differences, {} undecided, {} refused alike (seed {})".format(
        sum(counts.values()), wrong, undecided, refused, arguments.seed))
    few = [cell for cell in counts if counts[cell] < arguments.values]
    return 1 if wrong or undecided or few else 0


if __name__ == "__main__":
    sys.exit(main())
