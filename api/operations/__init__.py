"""Operations on matches and accounts that resources and pages share."""
