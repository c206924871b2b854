"""Check digits: what tells a number of a bank, a card or a register from any other."""

import string
from datetime import date

_DOUBLED = {str(digit): digit * 2 - 9 * (digit > 4) for digit in range(10)}
_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"
_HETU = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22,
    "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28,
    "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23,
    "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27,
    "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27,
    "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24,
    "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19,
    "SK": 24, "SM": 27, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip
_ODD = dict(
    zip(
        string.digits + string.ascii_uppercase,
        (
            *(1, 0, 5, 7, 9, 13, 15, 17, 19, 21),
            *(1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22),
            *(25, 24, 23),
        ),
        strict=True,
    )
)


def is_card(text: str) -> bool:
    """The check digit of ISO/IEC 7812-1, annex B (Luhn's). One number in ten has it by chance, so
    that the pattern also wants the first digit of a network: times in milliseconds begin with 1."""
    return _luhn(text.replace(" ", "").replace("-", ""))


def is_iban(text: str) -> bool:
    """ISO 13616: the length of its country, and the number modulo 97 (ISO/IEC 7064)."""
    number = text.replace(" ", "").upper()
    if len(number) != _IBAN_LENGTHS.get(number[:2]):
        return False
    turned = number[4:] + number[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1


def is_dni(text: str) -> bool:
    """Spain's DNI and NIE: eight digits modulo 23 give the letter."""
    number = text.replace("-", "").upper()
    first = {"X": "0", "Y": "1", "Z": "2"}.get(number[0], number[0])
    return _DNI[int(first + number[1:8]) % 23] == number[8]


def is_cpf(text: str) -> bool:
    """Brazil's CPF: two check digits, modulo 11."""
    digits = [int(letter) for letter in text if letter.isdecimal()]
    if len(set(digits)) == 1:
        return False
    for known in (9, 10):
        total = sum(digits[place] * (known + 1 - place) for place in range(known))
        if total * 10 % 11 % 10 != digits[known]:
            return False
    return True


def is_codice_fiscale(text: str) -> bool:
    """Italy's codice fiscale: letters and digits at odd and even places, modulo 26."""
    code = text.upper()
    total = sum(_ODD[letter] for letter in code[0:15:2])
    total += sum(int(letter, 36) - 10 * letter.isalpha() for letter in code[1:15:2])
    return chr(ord("A") + total % 26) == code[15]


def is_personnummer(text: str) -> bool:
    """Sweden's personal number: a date and Luhn's check digit over its last ten digits."""
    digits = "".join(letter for letter in text if letter.isdecimal())[-10:]
    return _is_day(2000 + int(digits[:2]), digits[2:4], digits[4:6]) and _luhn(digits)


def is_hetu(text: str) -> bool:
    """Finland's personal identity code: a date, and nine digits modulo 31 give its last sign."""
    code = text.upper()
    number = int(code[:6] + code[7:10])
    return _is_day(2000 + int(code[4:6]), code[2:4], code[:2]) and _HETU[number % 31] == code[10]


def _luhn(digits: str) -> bool:
    total = sum(map(int, digits[-1::-2])) + sum(map(_DOUBLED.__getitem__, digits[-2::-2]))
    return total % 10 == 0


def _is_day(year: int, month: str, day: str) -> bool:
    try:
        date(year, int(month), int(day))
    except ValueError:
        # 29 February of a year whose century is not known.
        return (month, day) == ("02", "29")
    return True
