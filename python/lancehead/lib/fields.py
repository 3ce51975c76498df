"""`str.format` and `str.format_map`."""

from lancehead.lib import prim
from lancehead.lib.text import class_name, text_ascii, text_format, text_of, text_repr


def _literal_part(template, at):
    # Text up to the next field of a format string, where the field begins or the text ends, and whether there is one.
    n = len(template)
    parts = [""]
    begin = at
    while at < n:
        c = template[at]
        if c == "{" or c == "}":
            parts.append(prim.lh_str_slice(template, begin, at))
            if at + 1 < n and template[at + 1] == c:
                parts.append(c)
                at += 2
                begin = at
                continue
            if c == "}":
                raise ValueError("Single '}' encountered in format string")
            if at + 1 == n:
                raise ValueError("Single '{' encountered in format string")
            return "".join(parts), at + 1, True
        at += 1
    parts.append(prim.lh_str_slice(template, begin, n))
    return "".join(parts), n, False


def _field_parts(template, at):
    # Where a field's name ends, its conversion, where its specification begins and ends, and where the field ends.
    n = len(template)
    c = ""
    while at < n:
        c = template[at]
        if c == "{":
            raise ValueError("unexpected '{' in field name")
        if c == "}" or c == ":" or c == "!":
            break
        if c == "[":
            while at < n and template[at] != "]":
                at += 1
        at += 1
    if at >= n:
        raise ValueError("expected '}' before end of string")
    name_end = at
    conversion = ""
    if c == "}":
        return name_end, conversion, at, at, at + 1
    at += 1
    if c == "!":
        if at >= n:
            raise ValueError("end of string while looking for conversion specifier")
        conversion = template[at]
        at += 1
        if at < n:
            if template[at] == "}":
                return name_end, conversion, at, at, at + 1
            if template[at] != ":":
                raise ValueError("expected ':' after conversion specifier")
            at += 1
    spec = at
    depth = 1
    while at < n:
        if template[at] == "{":
            depth += 1
        elif template[at] == "}":
            depth -= 1
            if depth == 0:
                return name_end, conversion, spec, at, at + 1
        at += 1
    raise ValueError("unmatched '{' in format spec")


def _next_number(name, numbered):
    # Fields without names are numbered; -1 says that names with numbers were met.
    if name == "":
        if numbered < 0:
            raise ValueError("cannot switch from manual field specification to automatic field numbering")
        return numbered + 1
    if prim.lh_str_isdecimal(name):
        if numbered > 0:
            raise ValueError("cannot switch from automatic field numbering to manual field specification")
        return -1
    return numbered


def _first_part(name):
    # Where the attributes and items in a field's name begin.
    at = 0
    while at < len(name) and name[at] != "." and name[at] != "[":
        at += 1
    return at


def _argument(name, numbered, values, names):
    # The index of the value that a replacement field refers to; `numbered` already counts the field.
    by_position = len(values) - len(names)
    if name == "" or prim.lh_str_isdecimal(name):
        index = numbered - 1 if name == "" else prim.lh_str_to_i64(name, 10)
        if index >= by_position:
            number = prim.lh_str_from_i64(index)
            raise IndexError("Replacement index " + number + " out of range for positional args tuple")
        return index
    index = 0
    while index < len(names) and names[index] != name:
        index += 1
    if index == len(names):
        raise KeyError(name)
    return index + by_position


def _check_conversion(conversion):
    if conversion != "" and conversion != "r" and conversion != "s" and conversion != "a":
        is_shown = prim.lh_str_isascii(conversion) and prim.lh_str_isprintable(conversion) and conversion != " "
        shown = conversion if is_shown else "\\x" + prim.lh_str_format_i64(prim.lh_str_ord(conversion), "x")
        raise ValueError("Unknown conversion specifier " + shown)


def _field_value(name, numbered, conversion, spec, values, names):
    first = _first_part(name)
    argument = prim.lh_str_slice(name, 0, first)
    path = prim.lh_str_slice(name, first, len(name))
    if names is None:
        if argument == "" or prim.lh_str_isdecimal(argument):
            raise ValueError("Format string contains positional fields")
        return _reached(values[argument], path, conversion, spec)
    index = _argument(argument, numbered, values, names)
    text = ""
    at = 0
    for x in values:
        if at == index:
            text = _reached(x, path, conversion, spec)
        at += 1
    return text


def _path_part(path):
    # The next attribute or item of a path, and where the one after it begins.
    if path[0] == ".":
        end = 1 + _first_part(prim.lh_str_slice(path, 1, len(path)))
        part, following = prim.lh_str_slice(path, 1, end), end
    else:
        if path[0] != "[":
            raise ValueError("Only '.' or '[' may follow ']' in format field specifier")
        end = prim.lh_str_find(path, "]", 0)
        if end < 0:
            raise ValueError("Missing ']' in format string")
        part, following = prim.lh_str_slice(path, 1, end), end + 1
    if part == "":
        raise ValueError("Empty attribute in format string")
    return part, following


def _reached(x, path, conversion, spec):
    # The text of what is reached from a value by attributes and items.
    if path == "":
        return _field_text(x, conversion, spec)
    part, following = _path_part(path)
    rest = prim.lh_str_slice(path, following, len(path))
    if path[0] == ".":
        return _attribute_text(x, part, rest, conversion, spec)
    return _item_text(x, part, rest, conversion, spec)


def _attribute_text(x, name, rest, conversion, spec):
    if prim.is_tuple(x) and prim.class_name(x) != "":
        found = False
        text = ""
        for i, field in enumerate(x._fields):
            if field == name:
                found = True
                text = _reached(x[i], rest, conversion, spec)
        if found:
            return text
        raise AttributeError("'" + prim.class_name(x) + "' object has no attribute '" + name + "'")
    is_number = prim.is_int(x) or prim.is_float(x) or prim.is_complex(x)
    if is_number and (name == "real" or name == "imag"):
        return _reached(x.real if name == "real" else x.imag, rest, conversion, spec)
    raise ValueError("this attribute in a format string is not supported in compiled code: " + name)


def _item_text(x, key, rest, conversion, spec):
    if prim.is_a(x, "builtins.dict"):
        return _entry_text(x, key, rest, conversion, spec)
    if not (prim.is_tuple(x) or prim.is_a(x, "builtins.list") or prim.is_array(x) or prim.is_str(x)):
        raise ValueError("items of a value of this type in a format string are not supported in compiled code")
    if not prim.lh_str_isdecimal(key):
        what = "tuple" if prim.is_tuple(x) else "list" if prim.is_a(x, "builtins.list") else "string"
        raise TypeError(
            what + " indices must be integers" + (", not 'str'" if what == "string" else " or slices, not str")
        )
    index = prim.lh_str_to_i64(key, 10)
    if prim.is_tuple(x):
        if index >= len(x):
            raise IndexError("tuple index out of range")
        text = ""
        for i, item in enumerate(x):
            if i == index:
                text = _reached(item, rest, conversion, spec)
        return text
    return _reached(x[index], rest, conversion, spec)


def _entry_text(x, key, rest, conversion, spec):
    # A key of digits is an integer.
    if prim.lh_str_isdecimal(key):
        number = prim.lh_str_to_i64(key, 10)
        if prim.is_int(prim.items_nothing(x)[1]):
            return _reached(x[number], rest, conversion, spec)
        raise KeyError(number)
    if prim.is_str(prim.items_nothing(x)[1]):
        return _reached(x[key], rest, conversion, spec)
    raise KeyError(key)


def _field_text(x, conversion, spec):
    if conversion == "r":
        return prim.lh_str_format_str(text_repr(x), spec)
    if conversion == "a":
        return prim.lh_str_format_str(text_ascii(x), spec)
    if conversion == "s":
        return prim.lh_str_format_str(text_of(x), spec)
    if spec == "":
        return text_of(x)
    if prim.is_enum(x):
        return format(x, spec)
    if prim.is_str(x) or prim.is_time(x) or prim.is_float(x) or prim.is_int(x) or prim.is_bool(x) or prim.is_complex(x):
        return text_format(x, spec)
    raise TypeError("unsupported format string passed to " + class_name(x) + ".__format__")


def _filled(template, numbered, values, names, depth):
    out, at, is_field = _literal_part(template, 0)
    parts = [out]
    while is_field:
        name_end, conversion, spec_at, spec_end, end = _field_parts(template, at)
        name = prim.lh_str_slice(template, at, name_end)
        argument = prim.lh_str_slice(name, 0, _first_part(name))
        numbered = _next_number(argument, numbered)
        if names is not None:
            _argument(argument, numbered, values, names)
        _check_conversion(conversion)
        spec = prim.lh_str_slice(template, spec_at, spec_end)
        number = numbered
        if prim.lh_str_in("{", spec) or prim.lh_str_in("}", spec):
            if depth == 0:
                raise ValueError("Max string recursion exceeded")
            spec, numbered = _filled(spec, numbered, values, names, depth - 1)
        parts.append(_field_value(name, number, conversion, spec, values, names))
        text, at, is_field = _literal_part(template, end)
        parts.append(text)
    return "".join(parts), numbered


def filled(template, values, names):
    """`template.format(...)` of values, of which the last have names; or `template.format_map(values)`."""
    return _filled(template, 0, values, names, 1)[0]
