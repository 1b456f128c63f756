"""What people see: functions of the library, reports, pages."""
