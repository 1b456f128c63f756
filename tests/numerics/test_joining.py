"""Several modules of text as one."""

import pytest

from dalembert.runtime.numerics.jit import CannotCompile, merge_modules

ONE = """declare double @sin(double)
define internal i32 @f(i32 %x) {
  ret i32 %x
}
define i32 @g(i32 %x) {
  %y = call i32 @f(i32 %x)
  ret i32 %y
}"""


def test_what_is_common_is_written_once():
    text = merge_modules([("", ONE), ("", ONE), ("a", ONE)])
    assert 1 == text.count("declare double @sin")
    assert 1 == text.count("@f(i32 %x) {")
    assert "call i32 @a.f" in text


def test_two_of_one_name_are_refused():
    with pytest.raises(CannotCompile, match="define f differently"):
        merge_modules([("", ONE), ("", "define i32 @f() {\n  ret i32 1\n}")])
