// What the simulator has answered. Written by record.mjs.
export default {
 "at": "2026-11-30T11:12:41.145Z",
 "reads": {
  "/v1/config": {
   "card": {
    "processor": "stripe",
    "publishableKey": "pk_test_sandbox_demo",
    "scriptUrl": "http://127.0.0.1:1872/sandbox/v3/"
   },
   "features": [
    "login",
    "staff"
   ],
   "languages": [
    "en",
    "fr"
   ],
   "methods": [
    {
     "audience": [
      "visitor",
      "contact",
      "staff"
     ],
     "method": "card"
    },
    {
     "audience": [
      "visitor",
      "contact",
      "staff"
     ],
     "latestDueDate": "2027-02-28",
     "method": "later"
    },
    {
     "audience": [
      "visitor",
      "contact",
      "staff"
     ],
     "method": "free"
    },
    {
     "audience": [
      "staff"
     ],
     "method": "desk"
    }
   ],
   "mode": "mock",
   "person": [
    {
     "maxLength": 100,
     "minLength": 1,
     "pattern": "^[^\\x00-\\x1f\\x7f]*$",
     "pointer": "/address/city",
     "required": true
    },
    {
     "maxLength": 2,
     "minLength": 2,
     "pattern": "^[A-Z]{2}$",
     "pointer": "/address/country",
     "required": true
    },
    {
     "maxLength": 20,
     "minLength": 1,
     "pattern": "^ *[0-9A-Za-z]+([ -][0-9A-Za-z]+)* *$",
     "pointer": "/address/postalCode",
     "required": true
    },
    {
     "maxLength": 200,
     "minLength": 1,
     "pattern": "^[^\\x00-\\x1f\\x7f]*$",
     "pointer": "/address/street",
     "required": true
    },
    {
     "format": "date",
     "maxLength": 10,
     "pointer": "/birthDate",
     "required": true
    },
    {
     "format": "email",
     "maxLength": 254,
     "pointer": "/email",
     "required": true
    },
    {
     "maxLength": 100,
     "minLength": 1,
     "pattern": "^[^\\x00-\\x1f\\x7f]*$",
     "pointer": "/familyName",
     "required": true
    },
    {
     "allowed": [
      "female",
      "male",
      "other"
     ],
     "pointer": "/gender",
     "required": false
    },
    {
     "maxLength": 100,
     "minLength": 1,
     "pattern": "^[^\\x00-\\x1f\\x7f]*$",
     "pointer": "/givenName",
     "required": true
    },
    {
     "maxLength": 16,
     "pattern": "^\\+[1-9][0-9]{7,14}$",
     "pointer": "/mobile",
     "required": true
    }
   ],
   "startDates": {
    "earliest": "2026-11-30",
    "latest": "2031-11-30"
   },
   "statements": [
    {
     "confirm": "Confirm withdrawal",
     "kind": "withdrawal",
     "language": "en",
     "start": "Withdraw from contract here"
    },
    {
     "confirm": "Confirmer la rétractation",
     "kind": "withdrawal",
     "language": "fr",
     "start": "Se rétracter du contrat ici"
    },
    {
     "confirm": "Cancel now",
     "kind": "cancellation",
     "language": "en",
     "start": "Cancel contracts here"
    },
    {
     "confirm": "Notification de la résiliation",
     "kind": "cancellation",
     "language": "fr",
     "start": "Résilier votre contrat"
    }
   ],
   "version": "1.0.0-rc.2"
  },
  "/v1/clubs": {
   "items": [
    {
     "address": {
      "city": "Paris",
      "country": "FR",
      "postalCode": "75011",
      "street": "14 rue de la Roquette"
     },
     "alias": "bastille",
     "id": "11",
     "location": {
      "latitude": 48.8541,
      "longitude": 2.3715
     },
     "name": "Lumen Bastille",
     "path": [
      "Lumen Fitness",
      "Lumen Paris"
     ]
    },
    {
     "address": {
      "city": "Paris",
      "country": "FR",
      "postalCode": "75017",
      "street": "88 rue des Dames"
     },
     "alias": "batignolles",
     "id": "12",
     "location": {
      "latitude": 48.8855,
      "longitude": 2.3185
     },
     "name": "Lumen Batignolles",
     "path": [
      "Lumen Fitness",
      "Lumen Paris"
     ]
    },
    {
     "address": {
      "city": "Lyon",
      "country": "FR",
      "postalCode": "69002",
      "street": "5 quai Rambaud"
     },
     "id": "13",
     "location": {
      "latitude": 45.7433,
      "longitude": 4.8153
     },
     "name": "Lumen Lyon Confluence",
     "path": [
      "Lumen Fitness"
     ]
    },
    {
     "address": {
      "city": "Lille",
      "country": "FR",
      "postalCode": "59000",
      "street": "27 rue de Béthune"
     },
     "alias": "lille",
     "id": "21",
     "location": {
      "latitude": 50.6333,
      "longitude": 3.0667
     },
     "name": "Nordlicht Lille",
     "path": [
      "Nordlicht Studios"
     ]
    },
    {
     "address": {
      "city": "Nantes",
      "country": "FR",
      "postalCode": "44000",
      "street": "3 quai de la Fosse"
     },
     "alias": "nantes",
     "id": "22",
     "location": {
      "latitude": 47.2112,
      "longitude": -1.5659
     },
     "name": "Nordlicht Nantes",
     "path": [
      "Nordlicht Studios"
     ]
    }
   ]
  },
  "/v1/clubs/:clubId": {
   "address": {
    "city": "Paris",
    "country": "FR",
    "postalCode": "75011",
    "street": "14 rue de la Roquette"
   },
   "alias": "bastille",
   "creditor": {
    "address": {
     "city": "Paris",
     "country": "FR",
     "postalCode": "75004",
     "street": "1 rue de Rivoli"
    },
    "identifier": "FR49ZZZ000001",
    "name": "Lumen Fitness"
   },
   "currency": "EUR",
   "email": "bastille@lumen.example",
   "id": "11",
   "images": [
    {
     "alt": "The gym floor with its running track",
     "url": "http://127.0.0.1:1872/club.svg"
    }
   ],
   "location": {
    "latitude": 48.8541,
    "longitude": 2.3715
   },
   "name": "Lumen Bastille",
   "openingHours": [
    {
     "closes": "23:00",
     "days": [
      "monday",
      "tuesday",
      "wednesday",
      "thursday",
      "friday"
     ],
     "opens": "06:00"
    },
    {
     "closes": "20:00",
     "days": [
      "saturday",
      "sunday"
     ],
     "opens": "08:00"
    }
   ],
   "path": [
    "Lumen Fitness",
    "Lumen Paris"
   ],
   "phone": "+33199000011",
   "startDates": {
    "earliest": "2026-11-30",
    "latest": "2031-11-30"
   },
   "timeZone": "Europe/Paris",
   "trader": {
    "address": {
     "city": "Paris",
     "country": "FR",
     "postalCode": "75004",
     "street": "1 rue de Rivoli"
    },
    "email": "contact@lumen.example",
    "legalForm": "SAS, capital 50 000 €",
    "name": "Lumen Fitness",
    "phone": "+33199000000",
    "registrationNumber": "000 000 001 RCS Paris",
    "vatId": "FR00000000001"
   },
   "url": "https://lumen.example/bastille"
  },
  "/v1/clubs/:clubId/products": {
   "items": [
    {
     "description": "Twelve months of training whenever you like: gym floor, free weights and all changing rooms, 6 am to 11 pm. Paid once, nothing more to think about.",
     "id": "1",
     "name": "Year Pass",
     "offers": [
      {
       "commitment": "P12M",
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 45900,
         "currency": "EUR"
        }
       },
       "group": {
        "id": "once",
        "name": "Paid once"
       },
       "id": "101",
       "listPrice": {
        "amount": 45900,
        "currency": "EUR"
       },
       "name": "Year Pass, paid once",
       "needs": [
        "startDate"
       ],
       "order": 21,
       "prorated": false
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Three months to find your rhythm. Full access to the gym floor and free weights, with a programme that our coaches set up with you.",
     "id": "2",
     "name": "Quarter Pass",
     "offers": [
      {
       "commitment": "P3M",
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 14900,
         "currency": "EUR"
        }
       },
       "group": {
        "id": "once",
        "name": "Paid once"
       },
       "id": "201",
       "listPrice": {
        "amount": 14900,
        "currency": "EUR"
       },
       "name": "Quarter Pass, paid once",
       "needs": [
        "startDate"
       ],
       "order": 22,
       "prorated": false
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Everything under one roof for a year: all classes, the sauna and the climbing wall. Comes with your own access badge.",
     "id": "3",
     "name": "Premium Year",
     "offers": [
      {
       "commitment": "P12M",
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 70400,
         "currency": "EUR"
        }
       },
       "extras": [
        {
         "name": "Access Badge",
         "offerId": "2501",
         "price": {
          "amount": 500,
          "currency": "EUR"
         }
        }
       ],
       "group": {
        "id": "once",
        "name": "Paid once"
       },
       "id": "301",
       "listPrice": {
        "amount": 69900,
        "currency": "EUR"
       },
       "name": "Premium Year, paid once",
       "needs": [
        "startDate"
       ],
       "order": 23,
       "prorated": false
      }
     ],
     "type": "subscription"
    },
    {
     "description": "The club around the clock, nights and holidays included. The staff goes home at eleven, so this one is for adults only.",
     "id": "4",
     "name": "Night Owl Year",
     "offers": [
      {
       "ages": {
        "min": 18
       },
       "commitment": "P12M",
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 39900,
         "currency": "EUR"
        }
       },
       "facts": [
        "Day and night"
       ],
       "group": {
        "id": "once",
        "name": "Paid once"
       },
       "id": "401",
       "listPrice": {
        "amount": 39900,
        "currency": "EUR"
       },
       "name": "Night Owl Year, paid once",
       "needs": [
        "startDate"
       ],
       "order": 24,
       "prorated": false
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Strength, balance and company: weekday mornings with a coach on the floor, gentle classes included. For members aged 60 and over.",
     "id": "5",
     "name": "Silver Year 60+",
     "offers": [
      {
       "ages": {
        "min": 60
       },
       "commitment": "P12M",
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 34900,
         "currency": "EUR"
        }
       },
       "facts": [
        "Weekday mornings with a coach"
       ],
       "group": {
        "id": "once",
        "name": "Paid once"
       },
       "id": "501",
       "listPrice": {
        "amount": 34900,
        "currency": "EUR"
       },
       "name": "Silver Year, paid once",
       "needs": [
        "startDate"
       ],
       "order": 25,
       "prorated": false
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Supervised training for ages 14 to 17, Wednesday and Saturday afternoons and every day of the school holidays.",
     "id": "6",
     "name": "Junior Term",
     "offers": [
      {
       "ages": {
        "max": 17,
        "min": 14
       },
       "commitment": "P4M",
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 9900,
         "currency": "EUR"
        }
       },
       "facts": [
        "Wednesday and Saturday afternoons, school holidays"
       ],
       "group": {
        "id": "once",
        "name": "Paid once"
       },
       "id": "601",
       "listPrice": {
        "amount": 9900,
        "currency": "EUR"
       },
       "name": "Junior Term, paid once",
       "needs": [
        "startDate"
       ],
       "order": 26,
       "prorated": false
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Train, then sweat: a year on the gym floor, sold together with a year of sauna and steam.",
     "id": "49",
     "name": "Wellness Year",
     "offers": [
      {
       "commitment": "P12M",
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 52800,
         "currency": "EUR"
        }
       },
       "extras": [
        {
         "name": "Sauna & Steam, paid once",
         "offerId": "1901",
         "price": {
          "amount": 9900,
          "currency": "EUR"
         }
        }
       ],
       "group": {
        "id": "once",
        "name": "Paid once"
       },
       "id": "4901",
       "listPrice": {
        "amount": 42900,
        "currency": "EUR"
       },
       "name": "Wellness Year, paid once",
       "needs": [
        "startDate"
       ],
       "order": 28,
       "prorated": false
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Our most popular plan: full access, no commitment, cancel at any time. The first payment is due today, the others by direct debit.",
     "id": "9",
     "name": "Flex",
     "offers": [
      {
       "billing": {
        "debit": {
         "basis": "exact",
         "price": {
          "amount": 3990,
          "currency": "EUR"
         }
        },
        "endless": true,
        "entries": [
         {
          "every": "P1M",
          "price": {
           "amount": 3990,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 665,
            "currency": "EUR"
           },
           "net": {
            "amount": 3325,
            "currency": "EUR"
           },
           "percent": 20
          }
         }
        ],
        "firstInstalmentPaid": true,
        "rhythm": "P1M"
       },
       "debitChoice": "month_day",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 6890,
         "currency": "EUR"
        }
       },
       "group": {
        "id": "flexible",
        "name": "No commitment"
       },
       "highlight": true,
       "id": "901",
       "image": {
        "alt": "The gym floor",
        "url": "http://127.0.0.1:1872/club.svg"
       },
       "listPrice": {
        "amount": 6890,
        "currency": "EUR"
       },
       "name": "Flex, monthly",
       "needs": [
        "startDate",
        "debit",
        "mandate"
       ],
       "order": 1,
       "prorated": false,
       "registrationFee": {
        "name": "Registration fee",
        "price": {
         "amount": 2900,
         "currency": "EUR"
        }
       }
      },
      {
       "billing": {
        "debit": {
         "basis": "exact",
         "price": {
          "amount": 3690,
          "currency": "EUR"
         }
        },
        "endless": true,
        "entries": [
         {
          "every": "P4W",
          "price": {
           "amount": 3690,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 615,
            "currency": "EUR"
           },
           "net": {
            "amount": 3075,
            "currency": "EUR"
           },
           "percent": 20
          }
         }
        ],
        "firstInstalmentPaid": true,
        "rhythm": "P4W"
       },
       "debitChoice": "week_day",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 6590,
         "currency": "EUR"
        }
       },
       "group": {
        "id": "flexible",
        "name": "No commitment"
       },
       "highlight": true,
       "id": "902",
       "listPrice": {
        "amount": 6590,
        "currency": "EUR"
       },
       "name": "Flex, every four weeks",
       "needs": [
        "startDate",
        "debit",
        "mandate"
       ],
       "order": 2,
       "prorated": false,
       "registrationFee": {
        "name": "Registration fee",
        "price": {
         "amount": 2900,
         "currency": "EUR"
        }
       }
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Pay as you train: one small debit a week, stop with a week’s notice. No registration fee.",
     "id": "10",
     "name": "Weekly",
     "offers": [
      {
       "billing": {
        "debit": {
         "basis": "exact",
         "price": {
          "amount": 990,
          "currency": "EUR"
         }
        },
        "endless": true,
        "entries": [
         {
          "every": "P1W",
          "price": {
           "amount": 990,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 165,
            "currency": "EUR"
           },
           "net": {
            "amount": 825,
            "currency": "EUR"
           },
           "percent": 20
          }
         }
        ],
        "firstInstalmentPaid": true,
        "rhythm": "P1W"
       },
       "debitChoice": "week_day",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 990,
         "currency": "EUR"
        }
       },
       "group": {
        "id": "flexible",
        "name": "No commitment"
       },
       "id": "1001",
       "listPrice": {
        "amount": 990,
        "currency": "EUR"
       },
       "name": "Weekly, every week",
       "needs": [
        "startDate",
        "debit",
        "mandate"
       ],
       "order": 5,
       "prorated": false
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Twelve months, a better price: full access and two coaching sessions to get you going. The first month is paid today.",
     "id": "11",
     "name": "Commit 12",
     "offers": [
      {
       "billing": {
        "debit": {
         "basis": "exact",
         "price": {
          "amount": 2990,
          "currency": "EUR"
         }
        },
        "endless": false,
        "entries": [
         {
          "every": "P1M",
          "price": {
           "amount": 2990,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 498,
            "currency": "EUR"
           },
           "net": {
            "amount": 2492,
            "currency": "EUR"
           },
           "percent": 20
          },
          "times": 12
         }
        ],
        "firstInstalmentPaid": true,
        "rhythm": "P1M"
       },
       "commitment": "P12M",
       "debitChoice": "month_day",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 4890,
         "currency": "EUR"
        }
       },
       "group": {
        "id": "term",
        "name": "Fixed term"
       },
       "id": "1101",
       "listPrice": {
        "amount": 4890,
        "currency": "EUR"
       },
       "name": "Commit 12, monthly",
       "needs": [
        "startDate",
        "debit",
        "mandate"
       ],
       "order": 11,
       "prorated": false,
       "registrationFee": {
        "name": "Registration fee",
        "price": {
         "amount": 1900,
         "currency": "EUR"
        }
       }
      }
     ],
     "type": "subscription"
    },
    {
     "description": "A whole year at a lower weekly price, by direct debit: after 52 weeks you are done.",
     "id": "12",
     "name": "Commit 52",
     "offers": [
      {
       "billing": {
        "debit": {
         "basis": "exact",
         "price": {
          "amount": 2760,
          "currency": "EUR"
         }
        },
        "endless": false,
        "entries": [
         {
          "every": "P1W",
          "price": {
           "amount": 690,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 115,
            "currency": "EUR"
           },
           "net": {
            "amount": 575,
            "currency": "EUR"
           },
           "percent": 20
          },
          "times": 52
         }
        ],
        "firstInstalmentPaid": false,
        "rhythm": "P4W"
       },
       "commitment": "P52W",
       "debitChoice": "week_day",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 1900,
         "currency": "EUR"
        }
       },
       "group": {
        "id": "term",
        "name": "Fixed term"
       },
       "id": "1201",
       "listPrice": {
        "amount": 1900,
        "currency": "EUR"
       },
       "name": "Commit 52, every four weeks",
       "needs": [
        "startDate",
        "debit",
        "mandate"
       ],
       "order": 12,
       "prorated": false,
       "registrationFee": {
        "name": "Registration fee",
        "price": {
         "amount": 1900,
         "currency": "EUR"
        }
       }
      },
      {
       "billing": {
        "debit": {
         "basis": "exact",
         "price": {
          "amount": 720,
          "currency": "EUR"
         }
        },
        "endless": false,
        "entries": [
         {
          "every": "P1W",
          "price": {
           "amount": 720,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 120,
            "currency": "EUR"
           },
           "net": {
            "amount": 600,
            "currency": "EUR"
           },
           "percent": 20
          },
          "times": 52
         }
        ],
        "firstInstalmentPaid": false,
        "rhythm": "P1W"
       },
       "commitment": "P52W",
       "debitChoice": "week_day",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 1900,
         "currency": "EUR"
        }
       },
       "group": {
        "id": "term",
        "name": "Fixed term"
       },
       "id": "1202",
       "listPrice": {
        "amount": 1900,
        "currency": "EUR"
       },
       "name": "Commit 52, every week",
       "needs": [
        "startDate",
        "debit",
        "mandate"
       ],
       "order": 13,
       "prorated": false,
       "registrationFee": {
        "name": "Registration fee",
        "price": {
         "amount": 1900,
         "currency": "EUR"
        }
       }
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Join on any day and pay for the days that are left of the month; from the first of the next month on it is one plain monthly debit.",
     "id": "13",
     "name": "Any Day Start",
     "offers": [
      {
       "billing": {
        "debit": {
         "basis": "exact",
         "price": {
          "amount": 3790,
          "currency": "EUR"
         }
        },
        "endless": true,
        "entries": [
         {
          "every": "P1M",
          "price": {
           "amount": 3790,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 632,
            "currency": "EUR"
           },
           "net": {
            "amount": 3158,
            "currency": "EUR"
           },
           "percent": 20
          }
         }
        ],
        "firstInstalmentPaid": false,
        "rhythm": "P1M"
       },
       "debitChoice": "month_day",
       "dueToday": {
        "basis": "estimated",
        "date": "2026-11-30",
        "price": {
         "amount": 1626,
         "currency": "EUR"
        }
       },
       "group": {
        "id": "flexible",
        "name": "No commitment"
       },
       "id": "1301",
       "listPrice": {
        "amount": 1500,
        "currency": "EUR"
       },
       "name": "Any Day Start, monthly",
       "needs": [
        "startDate",
        "debit",
        "mandate"
       ],
       "order": 3,
       "prorated": true,
       "registrationFee": {
        "name": "Registration fee",
        "price": {
         "amount": 1500,
         "currency": "EUR"
        }
       }
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Twelve calendar months. What you pay today is reduced to the days that are left of this month.",
     "id": "14",
     "name": "Smart Start 12",
     "offers": [
      {
       "billing": {
        "debit": {
         "basis": "exact",
         "price": {
          "amount": 3290,
          "currency": "EUR"
         }
        },
        "endless": false,
        "entries": [
         {
          "every": "P1M",
          "price": {
           "amount": 3290,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 548,
            "currency": "EUR"
           },
           "net": {
            "amount": 2742,
            "currency": "EUR"
           },
           "percent": 20
          },
          "times": 12
         }
        ],
        "firstInstalmentPaid": true,
        "rhythm": "P1M"
       },
       "commitment": "P12M",
       "debitChoice": "month_day",
       "dueToday": {
        "basis": "estimated",
        "date": "2026-11-30",
        "price": {
         "amount": 110,
         "currency": "EUR"
        }
       },
       "group": {
        "id": "term",
        "name": "Fixed term"
       },
       "id": "1401",
       "listPrice": {
        "amount": 3290,
        "currency": "EUR"
       },
       "name": "Smart Start 12, monthly",
       "needs": [
        "startDate",
        "debit",
        "mandate"
       ],
       "order": 14,
       "prorated": true
      }
     ],
     "type": "subscription"
    },
    {
     "description": "All classes, sauna, climbing wall and a guest every Sunday. Your access badge is part of the order.",
     "id": "15",
     "name": "Premium",
     "offers": [
      {
       "billing": {
        "debit": {
         "basis": "exact",
         "price": {
          "amount": 5990,
          "currency": "EUR"
         }
        },
        "endless": true,
        "entries": [
         {
          "every": "P1M",
          "price": {
           "amount": 4990,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 832,
            "currency": "EUR"
           },
           "net": {
            "amount": 4158,
            "currency": "EUR"
           },
           "percent": 20
          }
         },
         {
          "every": "P1M",
          "price": {
           "amount": 1000,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 167,
            "currency": "EUR"
           },
           "net": {
            "amount": 833,
            "currency": "EUR"
           },
           "percent": 20
          }
         }
        ],
        "firstInstalmentPaid": true,
        "rhythm": "P1M"
       },
       "debitChoice": "month_day",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 9390,
         "currency": "EUR"
        }
       },
       "extras": [
        {
         "name": "Access Badge",
         "offerId": "2501",
         "price": {
          "amount": 500,
          "currency": "EUR"
         }
        }
       ],
       "group": {
        "id": "flexible",
        "name": "No commitment"
       },
       "id": "1501",
       "listPrice": {
        "amount": 8890,
        "currency": "EUR"
       },
       "name": "Premium, monthly",
       "needs": [
        "startDate",
        "debit",
        "mandate"
       ],
       "order": 4,
       "prorated": false,
       "registrationFee": {
        "name": "Registration fee",
        "price": {
         "amount": 2900,
         "currency": "EUR"
        }
       }
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Weekdays from nine to five, when the club is yours. Priced by the week, collected by the month.",
     "id": "17",
     "name": "Off-Peak",
     "offers": [
      {
       "billing": {
        "debit": {
         "basis": "estimated",
         "price": {
          "amount": 2557,
          "currency": "EUR"
         }
        },
        "endless": true,
        "entries": [
         {
          "every": "P1W",
          "price": {
           "amount": 590,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 98,
            "currency": "EUR"
           },
           "net": {
            "amount": 492,
            "currency": "EUR"
           },
           "percent": 20
          }
         }
        ],
        "firstInstalmentPaid": false,
        "rhythm": "P1M"
       },
       "debitChoice": "month_day",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 900,
         "currency": "EUR"
        }
       },
       "facts": [
        "Monday to Friday, 9:00 to 17:00"
       ],
       "group": {
        "id": "flexible",
        "name": "No commitment"
       },
       "id": "1701",
       "listPrice": {
        "amount": 900,
        "currency": "EUR"
       },
       "name": "Off-Peak, monthly debit",
       "needs": [
        "startDate",
        "debit",
        "mandate"
       ],
       "order": 7,
       "prorated": false,
       "registrationFee": {
        "name": "Registration fee",
        "price": {
         "amount": 900,
         "currency": "EUR"
        }
       }
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Twelve months that begin gently: three at a lower price, nine at the usual one. The first month is paid today.",
     "id": "50",
     "name": "Easy Start 12",
     "offers": [
      {
       "billing": {
        "endless": false,
        "entries": [
         {
          "every": "P1M",
          "price": {
           "amount": 1990,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 332,
            "currency": "EUR"
           },
           "net": {
            "amount": 1658,
            "currency": "EUR"
           },
           "percent": 20
          },
          "times": 3
         },
         {
          "every": "P1M",
          "price": {
           "amount": 2990,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 498,
            "currency": "EUR"
           },
           "net": {
            "amount": 2492,
            "currency": "EUR"
           },
           "percent": 20
          },
          "times": 9
         }
        ],
        "firstInstalmentPaid": true,
        "rhythm": "P1M"
       },
       "commitment": "P12M",
       "debitChoice": "month_day",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 3890,
         "currency": "EUR"
        }
       },
       "group": {
        "id": "term",
        "name": "Fixed term"
       },
       "id": "5001",
       "listPrice": {
        "amount": 3890,
        "currency": "EUR"
       },
       "name": "Easy Start 12, monthly",
       "needs": [
        "startDate",
        "debit",
        "mandate"
       ],
       "order": 15,
       "prorated": false,
       "registrationFee": {
        "name": "Registration fee",
        "price": {
         "amount": 1900,
         "currency": "EUR"
        }
       }
      }
     ],
     "type": "subscription"
    },
    {
     "description": "Unlimited places in more than sixty classes a week, from early yoga to late boxing.",
     "id": "18",
     "name": "All Classes",
     "offers": [
      {
       "billing": {
        "debit": {
         "basis": "exact",
         "price": {
          "amount": 1200,
          "currency": "EUR"
         }
        },
        "endless": true,
        "entries": [
         {
          "every": "P1M",
          "price": {
           "amount": 1200,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 200,
            "currency": "EUR"
           },
           "net": {
            "amount": 1000,
            "currency": "EUR"
           },
           "percent": 20
          }
         }
        ],
        "firstInstalmentPaid": true,
        "rhythm": "P1M"
       },
       "debitChoice": "month_day",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 1200,
         "currency": "EUR"
        }
       },
       "id": "1801",
       "listPrice": {
        "amount": 1200,
        "currency": "EUR"
       },
       "name": "All Classes, monthly",
       "needs": [
        "debit",
        "mandate"
       ],
       "prorated": false
      }
     ],
     "type": "subscription_option"
    },
    {
     "description": "A year of warmth after training: Finnish sauna, steam room and the quiet room.",
     "id": "19",
     "name": "Sauna & Steam",
     "offers": [
      {
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 9900,
         "currency": "EUR"
        }
       },
       "id": "1901",
       "listPrice": {
        "amount": 9900,
        "currency": "EUR"
       },
       "name": "Sauna & Steam, paid once",
       "needs": [],
       "prorated": false
      }
     ],
     "type": "subscription_option"
    },
    {
     "description": "A fresh towel at every visit. Travel light.",
     "id": "20",
     "name": "Towel Service",
     "offers": [
      {
       "billing": {
        "debit": {
         "basis": "exact",
         "price": {
          "amount": 590,
          "currency": "EUR"
         }
        },
        "endless": true,
        "entries": [
         {
          "every": "P4W",
          "price": {
           "amount": 590,
           "currency": "EUR"
          },
          "tax": {
           "included": {
            "amount": 98,
            "currency": "EUR"
           },
           "net": {
            "amount": 492,
            "currency": "EUR"
           },
           "percent": 20
          }
         }
        ],
        "firstInstalmentPaid": true,
        "rhythm": "P4W"
       },
       "debitChoice": "week_day",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 590,
         "currency": "EUR"
        }
       },
       "id": "2001",
       "listPrice": {
        "amount": 590,
        "currency": "EUR"
       },
       "name": "Towel Service, every four weeks",
       "needs": [
        "debit",
        "mandate"
       ],
       "prorated": false
      }
     ],
     "type": "subscription_option"
    },
    {
     "description": "Water with minerals and a taste of fruit, as much as you like, for six months.",
     "id": "21",
     "name": "Drinks Station",
     "offers": [
      {
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 3900,
         "currency": "EUR"
        }
       },
       "id": "2101",
       "listPrice": {
        "amount": 3900,
        "currency": "EUR"
       },
       "name": "Drinks Station, paid once",
       "needs": [],
       "prorated": false
      }
     ],
     "type": "subscription_option"
    },
    {
     "description": "A plan made for you by a coach and adjusted every two weeks, for three months.",
     "id": "22",
     "name": "Training Plan",
     "offers": [
      {
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 5900,
         "currency": "EUR"
        }
       },
       "id": "2201",
       "listPrice": {
        "amount": 5900,
        "currency": "EUR"
       },
       "name": "Training Plan, paid once",
       "needs": [],
       "prorated": false
      }
     ],
     "type": "subscription_option"
    },
    {
     "description": "Opens the doors and your locker. Yours to keep.",
     "id": "25",
     "name": "Access Badge",
     "offers": [
      {
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 500,
         "currency": "EUR"
        }
       },
       "id": "2501",
       "listPrice": {
        "amount": 500,
        "currency": "EUR"
       },
       "name": "Access Badge",
       "needs": [],
       "prorated": false
      }
     ],
     "type": "badge"
    },
    {
     "description": "The badge for people without pockets: silicone, waterproof, four colours.",
     "id": "26",
     "name": "Access Wristband",
     "offers": [
      {
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 1200,
         "currency": "EUR"
        }
       },
       "id": "2601",
       "listPrice": {
        "amount": 1200,
        "currency": "EUR"
       },
       "name": "Access Wristband",
       "needs": [],
       "prorated": false
      }
     ],
     "type": "badge"
    },
    {
     "description": "Ten visits, one year to use them, no subscription needed.",
     "id": "28",
     "name": "10-Visit Booklet",
     "offers": [
      {
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 9900,
         "currency": "EUR"
        }
       },
       "id": "2801",
       "listPrice": {
        "amount": 9900,
        "currency": "EUR"
       },
       "name": "10-Visit Booklet",
       "needs": [],
       "prorated": false
      }
     ],
     "type": "counter"
    },
    {
     "description": "Twenty visits, each for less than in the booklet of ten. Share them with a friend if you like.",
     "id": "29",
     "name": "20-Visit Booklet",
     "offers": [
      {
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 17900,
         "currency": "EUR"
        }
       },
       "id": "2901",
       "listPrice": {
        "amount": 17900,
        "currency": "EUR"
       },
       "name": "20-Visit Booklet",
       "needs": [],
       "prorated": false
      }
     ],
     "type": "counter"
    },
    {
     "description": "Five hours one to one with the coach of your choice.",
     "id": "30",
     "name": "5 Coaching Sessions",
     "offers": [
      {
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 22500,
         "currency": "EUR"
        }
       },
       "id": "3001",
       "listPrice": {
        "amount": 22500,
        "currency": "EUR"
       },
       "name": "5 Coaching Sessions",
       "needs": [],
       "prorated": false
      }
     ],
     "type": "counter"
    },
    {
     "description": "Small groups of six on the reformer, beginners welcome.",
     "id": "31",
     "name": "10 Reformer Pilates Classes",
     "offers": [
      {
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 18900,
         "currency": "EUR"
        }
       },
       "id": "3101",
       "listPrice": {
        "amount": 18900,
        "currency": "EUR"
       },
       "name": "10 Reformer Pilates Classes",
       "needs": [],
       "prorated": false
      }
     ],
     "type": "counter"
    },
    {
     "description": "All you need to begin: three months of full access, your badge, and two coaching sessions to learn the machines.",
     "id": "32",
     "name": "Starter Package",
     "offers": [
      {
       "commitment": "P3M",
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 17900,
         "currency": "EUR"
        }
       },
       "id": "3201",
       "listPrice": {
        "amount": 17900,
        "currency": "EUR"
       },
       "name": "Starter Package",
       "needs": [
        "startDate"
       ],
       "prorated": false
      }
     ],
     "type": "package"
    },
    {
     "description": "Eight weeks with a plan: full access, eight coaching sessions and a check-up before and after.",
     "id": "33",
     "name": "Reboot in 8 Weeks",
     "offers": [
      {
       "commitment": "P8W",
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 34900,
         "currency": "EUR"
        }
       },
       "id": "3301",
       "listPrice": {
        "amount": 34900,
        "currency": "EUR"
       },
       "name": "Reboot in 8 Weeks",
       "needs": [
        "startDate"
       ],
       "prorated": false
      }
     ],
     "type": "package"
    },
    {
     "description": "Ten visits with ten hours of childcare in our bright playroom.",
     "id": "34",
     "name": "New Parents Package",
     "offers": [
      {
       "debitChoice": "none",
       "dueToday": {
        "basis": "exact",
        "date": "2026-11-30",
        "price": {
         "amount": 13900,
         "currency": "EUR"
        }
       },
       "id": "3401",
       "listPrice": {
        "amount": 13900,
        "currency": "EUR"
       },
       "name": "New Parents Package",
       "needs": [],
       "prorated": false
      }
     ],
     "type": "package"
    }
   ],
   "next": "30"
  },
  "/v1/clubs/:clubId/documents": {
   "items": [
    {
     "document": "terms",
     "language": "en",
     "sha256": "0b8a34b9c869f1baf24a1d26b94744eb6e9473d22c3ff97fdf33f8d0f71ae40e",
     "url": "http://127.0.0.1:1872/v1/clubs/11/documents/0b8a34b9c869f1baf24a1d26b94744eb6e9473d22c3ff97fdf33f8d0f71ae40e",
     "version": "2026-11"
    },
    {
     "document": "privacy",
     "language": "en",
     "sha256": "5dbf5177e78d31596390458eb7f0d985691eeb35288ba6223b9a9cc6e672ed39",
     "url": "http://127.0.0.1:1872/v1/clubs/11/documents/5dbf5177e78d31596390458eb7f0d985691eeb35288ba6223b9a9cc6e672ed39",
     "version": "2026-11"
    },
    {
     "document": "withdrawal_information",
     "language": "en",
     "sha256": "2d86bd04174a06a49765e236a9be393687807a967e1a8a0e1d0934c0e33f4d01",
     "url": "http://127.0.0.1:1872/v1/clubs/11/documents/2d86bd04174a06a49765e236a9be393687807a967e1a8a0e1d0934c0e33f4d01",
     "version": "2026-11"
    },
    {
     "document": "early_start_request",
     "language": "en",
     "sha256": "b04046456ff1e50415f4705a6a7cfb1e2426154f6cb0cf167ddffd220fa6a7ea",
     "url": "http://127.0.0.1:1872/v1/clubs/11/documents/b04046456ff1e50415f4705a6a7cfb1e2426154f6cb0cf167ddffd220fa6a7ea",
     "version": "2026-11"
    },
    {
     "document": "mandate_text",
     "language": "en",
     "sha256": "db8df01e21368ece1eaf76c87f5e61bf13dfd8e34ed889b0f50554794085685d",
     "url": "http://127.0.0.1:1872/v1/clubs/11/documents/db8df01e21368ece1eaf76c87f5e61bf13dfd8e34ed889b0f50554794085685d",
     "version": "2026-11"
    }
   ]
  },
  "/v1/clubs/:clubId/offers/:offerId": {
   "description": "Our most popular plan: full access, no commitment, cancel at any time. The first payment is due today, the others by direct debit.",
   "id": "9",
   "name": "Flex",
   "offers": [
    {
     "billing": {
      "debit": {
       "basis": "exact",
       "price": {
        "amount": 3990,
        "currency": "EUR"
       }
      },
      "endless": true,
      "entries": [
       {
        "every": "P1M",
        "price": {
         "amount": 3990,
         "currency": "EUR"
        },
        "tax": {
         "included": {
          "amount": 665,
          "currency": "EUR"
         },
         "net": {
          "amount": 3325,
          "currency": "EUR"
         },
         "percent": 20
        }
       }
      ],
      "firstInstalmentPaid": true,
      "rhythm": "P1M"
     },
     "debitChoice": "month_day",
     "dueToday": {
      "basis": "exact",
      "date": "2026-11-30",
      "price": {
       "amount": 6890,
       "currency": "EUR"
      }
     },
     "group": {
      "id": "flexible",
      "name": "No commitment"
     },
     "highlight": true,
     "id": "901",
     "image": {
      "alt": "The gym floor",
      "url": "http://127.0.0.1:1872/club.svg"
     },
     "listPrice": {
      "amount": 6890,
      "currency": "EUR"
     },
     "name": "Flex, monthly",
     "needs": [
      "startDate",
      "debit",
      "mandate"
     ],
     "order": 1,
     "prorated": false,
     "registrationFee": {
      "name": "Registration fee",
      "price": {
       "amount": 2900,
       "currency": "EUR"
      }
     }
    }
   ],
   "type": "subscription"
  },
  "/v1/clubs/:clubId/offers/:offerId/schedule": {
   "basis": "exact",
   "debitDay": 10,
   "debits": [],
   "dueNow": {
    "basis": "exact",
    "date": "2026-11-30",
    "parts": [
     {
      "kind": "registration_fee",
      "name": "Registration fee",
      "price": {
       "amount": 2900,
       "currency": "EUR"
      }
     },
     {
      "kind": "first_instalment",
      "price": {
       "amount": 3990,
       "currency": "EUR"
      }
     }
    ],
    "price": {
     "amount": 6890,
     "currency": "EUR"
    }
   },
   "firstStatement": [
    {
     "basis": "exact",
     "date": "2026-11-30",
     "kind": "due_now",
     "price": {
      "amount": 6890,
      "currency": "EUR"
     }
    },
    {
     "basis": "exact",
     "date": "2030-03-10",
     "kind": "debit",
     "price": {
      "amount": 3990,
      "currency": "EUR"
     }
    },
    {
     "basis": "exact",
     "date": "2030-04-10",
     "kind": "debit",
     "price": {
      "amount": 3990,
      "currency": "EUR"
     }
    }
   ],
   "offerId": "901",
   "recurrence": {
    "basis": "exact",
    "day": 10,
    "every": "P1M",
    "from": "2030-03-10",
    "price": {
     "amount": 3990,
     "currency": "EUR"
    }
   },
   "startDate": "2030-01-15"
  },
  "/v1/clubs/:clubId/debit-days": {
   "items": [
    {
     "date": "2030-01-20",
     "day": 20
    },
    {
     "date": "2030-02-05",
     "day": 5
    },
    {
     "date": "2030-02-10",
     "day": 10
    }
   ]
  },
  "/v1/registrations/:id/consents": {
   "items": [
    {
     "authorized": false,
     "channel": "email",
     "id": "12144",
     "locked": false,
     "type": "news"
    },
    {
     "authorized": false,
     "channel": "text_message",
     "id": "12145",
     "locked": false,
     "type": "news"
    },
    {
     "authorized": false,
     "channel": "postal_mail",
     "id": "12146",
     "locked": false,
     "type": "news"
    },
    {
     "authorized": true,
     "channel": "email",
     "id": "12147",
     "locked": true,
     "type": "legal"
    },
    {
     "authorized": true,
     "channel": "text_message",
     "id": "12148",
     "locked": true,
     "type": "legal"
    },
    {
     "authorized": true,
     "channel": "postal_mail",
     "id": "12149",
     "locked": true,
     "type": "legal"
    },
    {
     "authorized": false,
     "channel": "email",
     "id": "12150",
     "locked": false,
     "type": "advertising"
    },
    {
     "authorized": false,
     "channel": "text_message",
     "id": "12151",
     "locked": false,
     "type": "advertising"
    },
    {
     "authorized": false,
     "channel": "postal_mail",
     "id": "12152",
     "locked": false,
     "type": "advertising"
    },
    {
     "authorized": false,
     "channel": "email",
     "id": "12153",
     "locked": false,
     "type": "partners"
    },
    {
     "authorized": false,
     "channel": "text_message",
     "id": "12154",
     "locked": false,
     "type": "partners"
    },
    {
     "authorized": false,
     "channel": "postal_mail",
     "id": "12155",
     "locked": false,
     "type": "partners"
    }
   ],
   "receipts": []
  }
 },
 "statuses": {
  "POST /v1/registrations": 201,
  "DELETE /v1/registrations/:id": 200,
  "POST /v1/registrations/:id/mandate": 201,
  "POST /v1/registrations/:id/mandate/signature": 201,
  "POST /v1/registrations/:id/payment": 201
 },
 "steps": {
  "items": {
   "cart": {
    "changes": [],
    "dueNow": {
     "amount": 0,
     "currency": "EUR"
    },
    "items": [],
    "problems": [],
    "revision": "AlFABs9iVqLnWWe8",
    "valid": false
   },
   "clubId": "11",
   "clubName": "Lumen Bastille",
   "contact": {
    "givenName": "Ada",
    "masked": {
     "birthYear": "1990",
     "city": "P•••",
     "email": "a•••@example.com",
     "familyName": "M•••",
     "postalCode": "7•••",
     "street": "1•••"
    },
    "mobileEnding": "78",
    "number": "11-001010",
    "status": "temp"
   },
   "expiresAt": "2026-12-01T07:12:43Z",
   "final": false,
   "forgottenAt": "2026-12-02T07:12:43Z",
   "id": "986e82f3-2a54-43d2-af44-622b67a55752",
   "message": {
    "code": "step_items",
    "text": "Please choose an offer."
   },
   "next": [
    {
     "action": "add_item"
    },
    {
     "action": "person"
    },
    {
     "action": "consents"
    },
    {
     "action": "abandon"
    }
   ],
   "sequence": 3592074326683710,
   "state": "open",
   "step": "items",
   "version": "0BPNjNLzqpD1weg9"
  },
  "mandate": {
   "cart": {
    "changes": [],
    "dueNow": {
     "amount": 6890,
     "currency": "EUR"
    },
    "items": [
     {
      "debit": {
       "day": 10,
       "from": "2030-02-10"
      },
      "id": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
      "image": {
       "alt": "The gym floor",
       "url": "http://127.0.0.1:1872/club.svg"
      },
      "name": "Flex, monthly",
      "offerId": "901",
      "origin": "chosen",
      "price": {
       "amount": 6890,
       "currency": "EUR"
      },
      "startDate": "2030-01-15",
      "type": "subscription"
     }
    ],
    "problems": [
     {
      "code": "mandate_required",
      "text": "A direct debit mandate must be signed first."
     }
    ],
    "revision": "NxzO03r0X_ueEXUS",
    "taxes": [
     {
      "included": {
       "amount": 1148,
       "currency": "EUR"
      },
      "net": {
       "amount": 5742,
       "currency": "EUR"
      },
      "percent": 20
     }
    ],
    "valid": false
   },
   "clubId": "11",
   "clubName": "Lumen Bastille",
   "contact": {
    "givenName": "Ada",
    "masked": {
     "birthYear": "1990",
     "city": "P•••",
     "email": "a•••@example.com",
     "familyName": "M•••",
     "postalCode": "7•••",
     "street": "1•••"
    },
    "mobileEnding": "78",
    "number": "11-001012",
    "status": "temp"
   },
   "expiresAt": "2026-12-01T07:12:43Z",
   "final": false,
   "forgottenAt": "2026-12-02T07:12:43Z",
   "id": "a1cf8c44-bad6-4a8d-899e-69a786c515db",
   "message": {
    "code": "step_mandate",
    "text": "Please enter the bank account for your direct debits."
   },
   "next": [
    {
     "action": "mandate"
    },
    {
     "action": "check"
    },
    {
     "action": "add_item"
    },
    {
     "action": "clear_items"
    },
    {
     "action": "person"
    },
    {
     "action": "prospect"
    },
    {
     "action": "consents"
    },
    {
     "action": "abandon"
    }
   ],
   "order": {
    "agreements": [
     {
      "document": "terms",
      "version": "2026-11"
     },
     {
      "document": "privacy",
      "version": "2026-11"
     },
     {
      "document": "withdrawal_information",
      "version": "2026-11"
     }
    ],
    "button": "order_with_obligation_to_pay",
    "essentials": {
     "basis": "exact",
     "debits": [],
     "dueNow": {
      "amount": 6890,
      "currency": "EUR"
     },
     "items": [
      {
       "itemId": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
       "name": "Flex, monthly",
       "notice": "You can cancel at any time. The contract ends one month later at the latest.",
       "price": {
        "amount": 6890,
        "currency": "EUR"
       },
       "startDate": "2030-01-15",
       "withdrawal": {
        "from": "contract",
        "right": true,
        "until": "2026-12-14"
       }
      }
     ],
     "notice": "You can cancel at any time. The contract ends one month later at the latest.",
     "recurrence": [
      {
       "basis": "exact",
       "day": 10,
       "every": "P1M",
       "from": "2030-03-10",
       "price": {
        "amount": 3990,
        "currency": "EUR"
       }
      }
     ]
    }
   },
   "sequence": 3592074328085848,
   "state": "open",
   "step": "mandate",
   "version": "7x5IPjy6EyMLCvRH"
  },
  "abandoned": {
   "cart": {
    "changes": [],
    "dueNow": {
     "amount": 6890,
     "currency": "EUR"
    },
    "items": [
     {
      "debit": {
       "day": 10,
       "from": "2030-02-10"
      },
      "id": "82e34b98-48c9-45db-b38e-b0ed5f4367e9",
      "image": {
       "alt": "The gym floor",
       "url": "http://127.0.0.1:1872/club.svg"
      },
      "name": "Flex, monthly",
      "offerId": "901",
      "origin": "chosen",
      "price": {
       "amount": 6890,
       "currency": "EUR"
      },
      "startDate": "2030-01-15",
      "type": "subscription"
     }
    ],
    "problems": [
     {
      "code": "mandate_required",
      "text": "A direct debit mandate must be signed first."
     }
    ],
    "revision": "NxzO03r0X_ueEXUS",
    "taxes": [
     {
      "included": {
       "amount": 1148,
       "currency": "EUR"
      },
      "net": {
       "amount": 5742,
       "currency": "EUR"
      },
      "percent": 20
     }
    ],
    "valid": false
   },
   "clubId": "11",
   "clubName": "Lumen Bastille",
   "contact": {
    "givenName": "Ada",
    "mobileEnding": "78",
    "number": "11-001011",
    "status": "temp"
   },
   "expiresAt": "2026-12-01T07:12:43Z",
   "final": true,
   "forgottenAt": "2026-12-02T07:12:43Z",
   "id": "87633ebc-4b91-4350-9ced-75c3f7d4001d",
   "message": {
    "code": "step_abandoned",
    "text": "You cancelled this registration."
   },
   "next": [],
   "order": {
    "agreements": [
     {
      "document": "terms",
      "version": "2026-11"
     },
     {
      "document": "privacy",
      "version": "2026-11"
     },
     {
      "document": "withdrawal_information",
      "version": "2026-11"
     }
    ],
    "button": "order_with_obligation_to_pay",
    "essentials": {
     "basis": "exact",
     "debits": [],
     "dueNow": {
      "amount": 6890,
      "currency": "EUR"
     },
     "items": [
      {
       "itemId": "82e34b98-48c9-45db-b38e-b0ed5f4367e9",
       "name": "Flex, monthly",
       "notice": "You can cancel at any time. The contract ends one month later at the latest.",
       "price": {
        "amount": 6890,
        "currency": "EUR"
       },
       "startDate": "2030-01-15",
       "withdrawal": {
        "from": "contract",
        "right": true,
        "until": "2026-12-14"
       }
      }
     ],
     "notice": "You can cancel at any time. The contract ends one month later at the latest.",
     "recurrence": [
      {
       "basis": "exact",
       "day": 10,
       "every": "P1M",
       "from": "2030-03-10",
       "price": {
        "amount": 3990,
        "currency": "EUR"
       }
      }
     ]
    }
   },
   "sequence": 3592074327149678,
   "state": "abandoned",
   "step": "abandoned",
   "version": "OO52sKkDy8rRQeXd"
  },
  "code": {
   "cart": {
    "changes": [],
    "dueNow": {
     "amount": 6890,
     "currency": "EUR"
    },
    "items": [
     {
      "debit": {
       "day": 10,
       "from": "2030-02-10"
      },
      "id": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
      "image": {
       "alt": "The gym floor",
       "url": "http://127.0.0.1:1872/club.svg"
      },
      "name": "Flex, monthly",
      "offerId": "901",
      "origin": "chosen",
      "price": {
       "amount": 6890,
       "currency": "EUR"
      },
      "startDate": "2030-01-15",
      "type": "subscription"
     }
    ],
    "problems": [
     {
      "code": "mandate_required",
      "text": "A direct debit mandate must be signed first."
     }
    ],
    "revision": "NxzO03r0X_ueEXUS",
    "taxes": [
     {
      "included": {
       "amount": 1148,
       "currency": "EUR"
      },
      "net": {
       "amount": 5742,
       "currency": "EUR"
      },
      "percent": 20
     }
    ],
    "valid": false
   },
   "clubId": "11",
   "clubName": "Lumen Bastille",
   "contact": {
    "givenName": "Ada",
    "masked": {
     "birthYear": "1990",
     "city": "P•••",
     "email": "a•••@example.com",
     "familyName": "M•••",
     "postalCode": "7•••",
     "street": "1•••"
    },
    "mobileEnding": "78",
    "number": "11-001012",
    "status": "temp"
   },
   "expiresAt": "2026-12-01T07:12:43Z",
   "final": false,
   "forgottenAt": "2026-12-02T07:12:43Z",
   "id": "a1cf8c44-bad6-4a8d-899e-69a786c515db",
   "mandate": {
    "attemptsLeft": 5,
    "covers": false,
    "creditor": {
     "address": {
      "city": "Paris",
      "country": "FR",
      "postalCode": "75004",
      "street": "1 rue de Rivoli"
     },
     "identifier": "FR49ZZZ000001",
     "name": "Lumen Fitness"
    },
    "iban": "FR** **** 2606",
    "preNotificationDays": 14,
    "reference": "FD-11-3001",
    "resendIn": 60,
    "state": "awaiting_code",
    "text": "Debtor: Ada Martin.\n\nFrontdesk placeholder: your club's lawyer or bank writes this text.\n\nSEPA direct debit mandate for recurrent payments to Lumen Fitness, 1 rue de Rivoli, 75004 Paris, FR, creditor identifier FR49ZZZ000001.\n\nBy entering the code you authorise (A) Lumen Fitness to send instructions to your bank to debit your account and (B) your bank to debit your account in accordance with the instructions from Lumen Fitness.\n\nAs part of your rights, you are entitled to a refund from your bank under the terms and conditions of your agreement with your bank. A refund must be claimed within 8 weeks starting from the date on which your account was debited.\n\nEach debit is announced at least 14 days before.",
    "type": "recurrent"
   },
   "message": {
    "code": "signature_awaiting_code",
    "text": "Please enter the code from the SMS."
   },
   "next": [
    {
     "action": "sign"
    },
    {
     "action": "cancel_signature"
    },
    {
     "action": "mandate"
    },
    {
     "action": "check"
    },
    {
     "action": "add_item"
    },
    {
     "action": "clear_items"
    },
    {
     "action": "person"
    },
    {
     "action": "prospect"
    },
    {
     "action": "consents"
    },
    {
     "action": "abandon"
    }
   ],
   "order": {
    "agreements": [
     {
      "document": "terms",
      "version": "2026-11"
     },
     {
      "document": "privacy",
      "version": "2026-11"
     },
     {
      "document": "withdrawal_information",
      "version": "2026-11"
     }
    ],
    "button": "order_with_obligation_to_pay",
    "essentials": {
     "basis": "exact",
     "debits": [],
     "dueNow": {
      "amount": 6890,
      "currency": "EUR"
     },
     "items": [
      {
       "itemId": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
       "name": "Flex, monthly",
       "notice": "You can cancel at any time. The contract ends one month later at the latest.",
       "price": {
        "amount": 6890,
        "currency": "EUR"
       },
       "startDate": "2030-01-15",
       "withdrawal": {
        "from": "contract",
        "right": true,
        "until": "2026-12-14"
       }
      }
     ],
     "notice": "You can cancel at any time. The contract ends one month later at the latest.",
     "recurrence": [
      {
       "basis": "exact",
       "day": 10,
       "every": "P1M",
       "from": "2030-03-10",
       "price": {
        "amount": 3990,
        "currency": "EUR"
       }
      }
     ]
    }
   },
   "sequence": 3592074328272188,
   "state": "open",
   "step": "code",
   "version": "WFb3U__aWrw_SR7n"
  },
  "ready": {
   "cart": {
    "changes": [],
    "dueNow": {
     "amount": 6890,
     "currency": "EUR"
    },
    "items": [
     {
      "debit": {
       "day": 10,
       "from": "2030-02-10"
      },
      "id": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
      "image": {
       "alt": "The gym floor",
       "url": "http://127.0.0.1:1872/club.svg"
      },
      "name": "Flex, monthly",
      "offerId": "901",
      "origin": "chosen",
      "price": {
       "amount": 6890,
       "currency": "EUR"
      },
      "startDate": "2030-01-15",
      "type": "subscription"
     }
    ],
    "problems": [],
    "revision": "NxzO03r0X_ueEXUS",
    "taxes": [
     {
      "included": {
       "amount": 1148,
       "currency": "EUR"
      },
      "net": {
       "amount": 5742,
       "currency": "EUR"
      },
      "percent": 20
     }
    ],
    "valid": true
   },
   "clubId": "11",
   "clubName": "Lumen Bastille",
   "contact": {
    "givenName": "Ada",
    "masked": {
     "birthYear": "1990",
     "city": "P•••",
     "email": "a•••@example.com",
     "familyName": "M•••",
     "postalCode": "7•••",
     "street": "1•••"
    },
    "mobileEnding": "78",
    "number": "11-001012",
    "status": "temp"
   },
   "expiresAt": "2026-12-01T07:12:43Z",
   "final": false,
   "forgottenAt": "2026-12-02T07:12:43Z",
   "id": "a1cf8c44-bad6-4a8d-899e-69a786c515db",
   "mandate": {
    "covers": true,
    "creditor": {
     "address": {
      "city": "Paris",
      "country": "FR",
      "postalCode": "75004",
      "street": "1 rue de Rivoli"
     },
     "identifier": "FR49ZZZ000001",
     "name": "Lumen Fitness"
    },
    "iban": "FR** **** 2606",
    "preNotificationDays": 14,
    "reference": "FD-11-3001",
    "signedAt": "2026-11-30T11:12:44Z",
    "state": "signed",
    "text": "Debtor: Ada Martin.\n\nFrontdesk placeholder: your club's lawyer or bank writes this text.\n\nSEPA direct debit mandate for recurrent payments to Lumen Fitness, 1 rue de Rivoli, 75004 Paris, FR, creditor identifier FR49ZZZ000001.\n\nBy entering the code you authorise (A) Lumen Fitness to send instructions to your bank to debit your account and (B) your bank to debit your account in accordance with the instructions from Lumen Fitness.\n\nAs part of your rights, you are entitled to a refund from your bank under the terms and conditions of your agreement with your bank. A refund must be claimed within 8 weeks starting from the date on which your account was debited.\n\nEach debit is announced at least 14 days before.",
    "type": "recurrent"
   },
   "message": {
    "code": "step_ready",
    "text": "Please check your cart, then confirm it."
   },
   "next": [
    {
     "action": "pay",
     "latestDueDate": "2027-02-28",
     "methods": [
      "card",
      "later"
     ]
    },
    {
     "action": "check"
    },
    {
     "action": "add_item"
    },
    {
     "action": "clear_items"
    },
    {
     "action": "person"
    },
    {
     "action": "prospect"
    },
    {
     "action": "consents"
    },
    {
     "action": "abandon"
    }
   ],
   "order": {
    "agreements": [
     {
      "document": "terms",
      "version": "2026-11"
     },
     {
      "document": "privacy",
      "version": "2026-11"
     },
     {
      "document": "withdrawal_information",
      "version": "2026-11"
     }
    ],
    "button": "order_with_obligation_to_pay",
    "essentials": {
     "basis": "exact",
     "debits": [],
     "dueNow": {
      "amount": 6890,
      "currency": "EUR"
     },
     "items": [
      {
       "itemId": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
       "name": "Flex, monthly",
       "notice": "You can cancel at any time. The contract ends one month later at the latest.",
       "price": {
        "amount": 6890,
        "currency": "EUR"
       },
       "startDate": "2030-01-15",
       "withdrawal": {
        "from": "contract",
        "right": true,
        "until": "2026-12-14"
       }
      }
     ],
     "notice": "You can cancel at any time. The contract ends one month later at the latest.",
     "recurrence": [
      {
       "basis": "exact",
       "day": 10,
       "every": "P1M",
       "from": "2030-03-10",
       "price": {
        "amount": 3990,
        "currency": "EUR"
       }
      }
     ]
    }
   },
   "sequence": 3592074328748356,
   "state": "open",
   "step": "ready",
   "version": "ws_-4mTaKgsE3YK5"
  },
  "at_processor": {
   "cart": {
    "changes": [],
    "dueNow": {
     "amount": 6890,
     "currency": "EUR"
    },
    "items": [
     {
      "debit": {
       "day": 10,
       "from": "2030-02-10"
      },
      "id": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
      "image": {
       "alt": "The gym floor",
       "url": "http://127.0.0.1:1872/club.svg"
      },
      "name": "Flex, monthly",
      "offerId": "901",
      "origin": "chosen",
      "price": {
       "amount": 6890,
       "currency": "EUR"
      },
      "startDate": "2030-01-15",
      "type": "subscription"
     }
    ],
    "problems": [],
    "revision": "NxzO03r0X_ueEXUS",
    "taxes": [
     {
      "included": {
       "amount": 1148,
       "currency": "EUR"
      },
      "net": {
       "amount": 5742,
       "currency": "EUR"
      },
      "percent": 20
     }
    ],
    "valid": true
   },
   "clubId": "11",
   "clubName": "Lumen Bastille",
   "contact": {
    "givenName": "Ada",
    "mobileEnding": "78",
    "number": "11-001012",
    "status": "temp"
   },
   "expiresAt": "2026-12-01T07:12:43Z",
   "final": false,
   "forgottenAt": "2026-12-02T07:12:43Z",
   "id": "a1cf8c44-bad6-4a8d-899e-69a786c515db",
   "mandate": {
    "covers": true,
    "creditor": {
     "address": {
      "city": "Paris",
      "country": "FR",
      "postalCode": "75004",
      "street": "1 rue de Rivoli"
     },
     "identifier": "FR49ZZZ000001",
     "name": "Lumen Fitness"
    },
    "iban": "FR** **** 2606",
    "preNotificationDays": 14,
    "reference": "FD-11-3001",
    "signedAt": "2026-11-30T11:12:44Z",
    "state": "signed",
    "text": "Debtor: Ada Martin.\n\nFrontdesk placeholder: your club's lawyer or bank writes this text.\n\nSEPA direct debit mandate for recurrent payments to Lumen Fitness, 1 rue de Rivoli, 75004 Paris, FR, creditor identifier FR49ZZZ000001.\n\nBy entering the code you authorise (A) Lumen Fitness to send instructions to your bank to debit your account and (B) your bank to debit your account in accordance with the instructions from Lumen Fitness.\n\nAs part of your rights, you are entitled to a refund from your bank under the terms and conditions of your agreement with your bank. A refund must be claimed within 8 weeks starting from the date on which your account was debited.\n\nEach debit is announced at least 14 days before.",
    "type": "recurrent"
   },
   "message": {
    "code": "payment_action_required",
    "text": "Please complete your payment."
   },
   "next": [
    {
     "action": "cancel_payment"
    },
    {
     "action": "abandon"
    }
   ],
   "order": {
    "agreements": [
     {
      "document": "terms",
      "version": "2026-11"
     },
     {
      "document": "privacy",
      "version": "2026-11"
     },
     {
      "document": "withdrawal_information",
      "version": "2026-11"
     }
    ],
    "button": "order_with_obligation_to_pay",
    "essentials": {
     "basis": "exact",
     "debits": [],
     "dueNow": {
      "amount": 6890,
      "currency": "EUR"
     },
     "items": [
      {
       "itemId": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
       "name": "Flex, monthly",
       "notice": "You can cancel at any time. The contract ends one month later at the latest.",
       "price": {
        "amount": 6890,
        "currency": "EUR"
       },
       "startDate": "2030-01-15",
       "withdrawal": {
        "from": "contract",
        "right": true,
        "until": "2026-12-14"
       }
      }
     ],
     "notice": "You can cancel at any time. The contract ends one month later at the latest.",
     "recurrence": [
      {
       "basis": "exact",
       "day": 10,
       "every": "P1M",
       "from": "2030-03-10",
       "price": {
        "amount": 3990,
        "currency": "EUR"
       }
      }
     ]
    }
   },
   "payment": {
    "agreements": [
     {
      "at": "2026-11-30T11:12:44Z",
      "document": "terms",
      "language": "en",
      "sha256": "0b8a34b9c869f1baf24a1d26b94744eb6e9473d22c3ff97fdf33f8d0f71ae40e",
      "version": "2026-11"
     },
     {
      "at": "2026-11-30T11:12:44Z",
      "document": "privacy",
      "language": "en",
      "sha256": "5dbf5177e78d31596390458eb7f0d985691eeb35288ba6223b9a9cc6e672ed39",
      "version": "2026-11"
     },
     {
      "at": "2026-11-30T11:12:44Z",
      "document": "withdrawal_information",
      "language": "en",
      "sha256": "2d86bd04174a06a49765e236a9be393687807a967e1a8a0e1d0934c0e33f4d01",
      "version": "2026-11"
     }
    ],
    "card": {
     "attemptsLeft": 4,
     "clientSecret": "pi_1mt4ZHcIOLgW7BZRdDG0v8jD_secret_lWje6nKzzsbXYH1ooAIiuJOz",
     "presentation": "embedded",
     "processor": "stripe",
     "publishableKey": "pk_test_sandbox_demo",
     "redirectUrl": "http://127.0.0.1:1872/pay/a1cf8c44-bad6-4a8d-899e-69a786c515db-1/k4hKdz7nIw8HVBlhUIBGtrK9Ro1z1aHjk4eLBnt2vP4"
    },
    "id": "a1cf8c44-bad6-4a8d-899e-69a786c515db-1",
    "method": "card",
    "payAgain": "no",
    "state": "requires_action",
    "total": {
     "amount": 6890,
     "currency": "EUR"
    }
   },
   "sequence": 3592074329397789,
   "state": "paying",
   "step": "at_processor",
   "version": "y8ly9HFXXRe3ztYW"
  },
  "declined": {
   "cart": {
    "changes": [],
    "dueNow": {
     "amount": 6890,
     "currency": "EUR"
    },
    "items": [
     {
      "debit": {
       "day": 10,
       "from": "2030-02-10"
      },
      "id": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
      "image": {
       "alt": "The gym floor",
       "url": "http://127.0.0.1:1872/club.svg"
      },
      "name": "Flex, monthly",
      "offerId": "901",
      "origin": "chosen",
      "price": {
       "amount": 6890,
       "currency": "EUR"
      },
      "startDate": "2030-01-15",
      "type": "subscription"
     }
    ],
    "problems": [],
    "revision": "NxzO03r0X_ueEXUS",
    "taxes": [
     {
      "included": {
       "amount": 1148,
       "currency": "EUR"
      },
      "net": {
       "amount": 5742,
       "currency": "EUR"
      },
      "percent": 20
     }
    ],
    "valid": true
   },
   "clubId": "11",
   "clubName": "Lumen Bastille",
   "contact": {
    "givenName": "Ada",
    "mobileEnding": "78",
    "number": "11-001012",
    "status": "temp"
   },
   "expiresAt": "2026-12-01T07:12:43Z",
   "final": false,
   "forgottenAt": "2026-12-02T07:12:43Z",
   "id": "a1cf8c44-bad6-4a8d-899e-69a786c515db",
   "mandate": {
    "covers": true,
    "creditor": {
     "address": {
      "city": "Paris",
      "country": "FR",
      "postalCode": "75004",
      "street": "1 rue de Rivoli"
     },
     "identifier": "FR49ZZZ000001",
     "name": "Lumen Fitness"
    },
    "iban": "FR** **** 2606",
    "preNotificationDays": 14,
    "reference": "FD-11-3001",
    "signedAt": "2026-11-30T11:12:44Z",
    "state": "signed",
    "text": "Debtor: Ada Martin.\n\nFrontdesk placeholder: your club's lawyer or bank writes this text.\n\nSEPA direct debit mandate for recurrent payments to Lumen Fitness, 1 rue de Rivoli, 75004 Paris, FR, creditor identifier FR49ZZZ000001.\n\nBy entering the code you authorise (A) Lumen Fitness to send instructions to your bank to debit your account and (B) your bank to debit your account in accordance with the instructions from Lumen Fitness.\n\nAs part of your rights, you are entitled to a refund from your bank under the terms and conditions of your agreement with your bank. A refund must be claimed within 8 weeks starting from the date on which your account was debited.\n\nEach debit is announced at least 14 days before.",
    "type": "recurrent"
   },
   "message": {
    "code": "payment_declined",
    "text": "Your card was declined and nothing was charged. You can try again, or use another card."
   },
   "next": [
    {
     "action": "pay",
     "methods": [
      "card"
     ]
    },
    {
     "action": "cancel_payment"
    },
    {
     "action": "abandon"
    }
   ],
   "order": {
    "agreements": [
     {
      "document": "terms",
      "version": "2026-11"
     },
     {
      "document": "privacy",
      "version": "2026-11"
     },
     {
      "document": "withdrawal_information",
      "version": "2026-11"
     }
    ],
    "button": "order_with_obligation_to_pay",
    "essentials": {
     "basis": "exact",
     "debits": [],
     "dueNow": {
      "amount": 6890,
      "currency": "EUR"
     },
     "items": [
      {
       "itemId": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
       "name": "Flex, monthly",
       "notice": "You can cancel at any time. The contract ends one month later at the latest.",
       "price": {
        "amount": 6890,
        "currency": "EUR"
       },
       "startDate": "2030-01-15",
       "withdrawal": {
        "from": "contract",
        "right": true,
        "until": "2026-12-14"
       }
      }
     ],
     "notice": "You can cancel at any time. The contract ends one month later at the latest.",
     "recurrence": [
      {
       "basis": "exact",
       "day": 10,
       "every": "P1M",
       "from": "2030-03-10",
       "price": {
        "amount": 3990,
        "currency": "EUR"
       }
      }
     ]
    }
   },
   "payment": {
    "agreements": [
     {
      "at": "2026-11-30T11:12:44Z",
      "document": "terms",
      "language": "en",
      "sha256": "0b8a34b9c869f1baf24a1d26b94744eb6e9473d22c3ff97fdf33f8d0f71ae40e",
      "version": "2026-11"
     },
     {
      "at": "2026-11-30T11:12:44Z",
      "document": "privacy",
      "language": "en",
      "sha256": "5dbf5177e78d31596390458eb7f0d985691eeb35288ba6223b9a9cc6e672ed39",
      "version": "2026-11"
     },
     {
      "at": "2026-11-30T11:12:44Z",
      "document": "withdrawal_information",
      "language": "en",
      "sha256": "2d86bd04174a06a49765e236a9be393687807a967e1a8a0e1d0934c0e33f4d01",
      "version": "2026-11"
     }
    ],
    "card": {
     "attemptsLeft": 4,
     "clientSecret": "pi_1mt4ZHcIOLgW7BZRdDG0v8jD_secret_lWje6nKzzsbXYH1ooAIiuJOz",
     "declineCode": "generic_decline",
     "presentation": "embedded",
     "processor": "stripe",
     "publishableKey": "pk_test_sandbox_demo",
     "redirectUrl": "http://127.0.0.1:1872/pay/a1cf8c44-bad6-4a8d-899e-69a786c515db-1/k4hKdz7nIw8HVBlhUIBGtrK9Ro1z1aHjk4eLBnt2vP4"
    },
    "id": "a1cf8c44-bad6-4a8d-899e-69a786c515db-1",
    "method": "card",
    "payAgain": "new_request",
    "state": "declined",
    "total": {
     "amount": 6890,
     "currency": "EUR"
    }
   },
   "sequence": 3592074329313594,
   "state": "paying",
   "step": "declined",
   "version": "lmdvHF0SYpLiD5Wa"
  },
  "waiting": {
   "cart": {
    "changes": [],
    "dueNow": {
     "amount": 6890,
     "currency": "EUR"
    },
    "items": [
     {
      "debit": {
       "day": 10,
       "from": "2030-02-10"
      },
      "id": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
      "image": {
       "alt": "The gym floor",
       "url": "http://127.0.0.1:1872/club.svg"
      },
      "name": "Flex, monthly",
      "offerId": "901",
      "origin": "chosen",
      "price": {
       "amount": 6890,
       "currency": "EUR"
      },
      "startDate": "2030-01-15",
      "type": "subscription"
     }
    ],
    "problems": [],
    "revision": "NxzO03r0X_ueEXUS",
    "taxes": [
     {
      "included": {
       "amount": 1148,
       "currency": "EUR"
      },
      "net": {
       "amount": 5742,
       "currency": "EUR"
      },
      "percent": 20
     }
    ],
    "valid": true
   },
   "clubId": "11",
   "clubName": "Lumen Bastille",
   "contact": {
    "givenName": "Ada",
    "mobileEnding": "78",
    "number": "11-001012",
    "status": "temp"
   },
   "expiresAt": "2026-12-01T07:12:43Z",
   "final": false,
   "forgottenAt": "2026-12-02T07:12:43Z",
   "id": "a1cf8c44-bad6-4a8d-899e-69a786c515db",
   "mandate": {
    "covers": true,
    "creditor": {
     "address": {
      "city": "Paris",
      "country": "FR",
      "postalCode": "75004",
      "street": "1 rue de Rivoli"
     },
     "identifier": "FR49ZZZ000001",
     "name": "Lumen Fitness"
    },
    "iban": "FR** **** 2606",
    "preNotificationDays": 14,
    "reference": "FD-11-3001",
    "signedAt": "2026-11-30T11:12:44Z",
    "state": "signed",
    "text": "Debtor: Ada Martin.\n\nFrontdesk placeholder: your club's lawyer or bank writes this text.\n\nSEPA direct debit mandate for recurrent payments to Lumen Fitness, 1 rue de Rivoli, 75004 Paris, FR, creditor identifier FR49ZZZ000001.\n\nBy entering the code you authorise (A) Lumen Fitness to send instructions to your bank to debit your account and (B) your bank to debit your account in accordance with the instructions from Lumen Fitness.\n\nAs part of your rights, you are entitled to a refund from your bank under the terms and conditions of your agreement with your bank. A refund must be claimed within 8 weeks starting from the date on which your account was debited.\n\nEach debit is announced at least 14 days before.",
    "type": "recurrent"
   },
   "message": {
    "code": "payment_processing",
    "text": "Your payment is being processed. Please do not pay again."
   },
   "next": [
    {
     "action": "cancel_payment"
    },
    {
     "action": "abandon"
    }
   ],
   "order": {
    "agreements": [
     {
      "document": "terms",
      "version": "2026-11"
     },
     {
      "document": "privacy",
      "version": "2026-11"
     },
     {
      "document": "withdrawal_information",
      "version": "2026-11"
     }
    ],
    "button": "order_with_obligation_to_pay",
    "essentials": {
     "basis": "exact",
     "debits": [],
     "dueNow": {
      "amount": 6890,
      "currency": "EUR"
     },
     "items": [
      {
       "itemId": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
       "name": "Flex, monthly",
       "notice": "You can cancel at any time. The contract ends one month later at the latest.",
       "price": {
        "amount": 6890,
        "currency": "EUR"
       },
       "startDate": "2030-01-15",
       "withdrawal": {
        "from": "contract",
        "right": true,
        "until": "2026-12-14"
       }
      }
     ],
     "notice": "You can cancel at any time. The contract ends one month later at the latest.",
     "recurrence": [
      {
       "basis": "exact",
       "day": 10,
       "every": "P1M",
       "from": "2030-03-10",
       "price": {
        "amount": 3990,
        "currency": "EUR"
       }
      }
     ]
    }
   },
   "payment": {
    "agreements": [
     {
      "at": "2026-11-30T11:12:44Z",
      "document": "terms",
      "language": "en",
      "sha256": "0b8a34b9c869f1baf24a1d26b94744eb6e9473d22c3ff97fdf33f8d0f71ae40e",
      "version": "2026-11"
     },
     {
      "at": "2026-11-30T11:12:44Z",
      "document": "privacy",
      "language": "en",
      "sha256": "5dbf5177e78d31596390458eb7f0d985691eeb35288ba6223b9a9cc6e672ed39",
      "version": "2026-11"
     },
     {
      "at": "2026-11-30T11:12:44Z",
      "document": "withdrawal_information",
      "language": "en",
      "sha256": "2d86bd04174a06a49765e236a9be393687807a967e1a8a0e1d0934c0e33f4d01",
      "version": "2026-11"
     }
    ],
    "card": {
     "presentation": "none",
     "processor": "stripe"
    },
    "id": "a1cf8c44-bad6-4a8d-899e-69a786c515db-1",
    "method": "card",
    "payAgain": "no",
    "state": "processing",
    "total": {
     "amount": 6890,
     "currency": "EUR"
    }
   },
   "sequence": 3592074329478882,
   "state": "paying",
   "step": "waiting",
   "version": "MRPObok4Q__mgwKB"
  },
  "done": {
   "cart": {
    "changes": [],
    "dueNow": {
     "amount": 6890,
     "currency": "EUR"
    },
    "items": [
     {
      "debit": {
       "day": 10,
       "from": "2030-02-10"
      },
      "id": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
      "image": {
       "alt": "The gym floor",
       "url": "http://127.0.0.1:1872/club.svg"
      },
      "name": "Flex, monthly",
      "offerId": "901",
      "origin": "chosen",
      "price": {
       "amount": 6890,
       "currency": "EUR"
      },
      "startDate": "2030-01-15",
      "type": "subscription"
     }
    ],
    "problems": [],
    "revision": "NxzO03r0X_ueEXUS",
    "taxes": [
     {
      "included": {
       "amount": 1148,
       "currency": "EUR"
      },
      "net": {
       "amount": 5742,
       "currency": "EUR"
      },
      "percent": 20
     }
    ],
    "valid": true
   },
   "clubId": "11",
   "clubName": "Lumen Bastille",
   "confirmation": {
    "mailedTo": [
     "a•••@example.com"
    ]
   },
   "contact": {
    "givenName": "Ada",
    "mobileEnding": "78",
    "number": "11-001012",
    "status": "temp"
   },
   "expiresAt": "2026-12-01T07:12:43Z",
   "final": true,
   "forgottenAt": "2026-12-02T07:12:43Z",
   "id": "a1cf8c44-bad6-4a8d-899e-69a786c515db",
   "mandate": {
    "covers": true,
    "creditor": {
     "address": {
      "city": "Paris",
      "country": "FR",
      "postalCode": "75004",
      "street": "1 rue de Rivoli"
     },
     "identifier": "FR49ZZZ000001",
     "name": "Lumen Fitness"
    },
    "iban": "FR** **** 2606",
    "preNotificationDays": 14,
    "reference": "FD-11-3001",
    "signedAt": "2026-11-30T11:12:44Z",
    "state": "signed",
    "text": "Debtor: Ada Martin.\n\nFrontdesk placeholder: your club's lawyer or bank writes this text.\n\nSEPA direct debit mandate for recurrent payments to Lumen Fitness, 1 rue de Rivoli, 75004 Paris, FR, creditor identifier FR49ZZZ000001.\n\nBy entering the code you authorise (A) Lumen Fitness to send instructions to your bank to debit your account and (B) your bank to debit your account in accordance with the instructions from Lumen Fitness.\n\nAs part of your rights, you are entitled to a refund from your bank under the terms and conditions of your agreement with your bank. A refund must be claimed within 8 weeks starting from the date on which your account was debited.\n\nEach debit is announced at least 14 days before.",
    "type": "recurrent"
   },
   "message": {
    "code": "payment_recorded",
    "text": "Your payment was received. Welcome!"
   },
   "next": [],
   "order": {
    "agreements": [
     {
      "document": "terms",
      "version": "2026-11"
     },
     {
      "document": "privacy",
      "version": "2026-11"
     },
     {
      "document": "withdrawal_information",
      "version": "2026-11"
     }
    ],
    "button": "order_with_obligation_to_pay",
    "essentials": {
     "basis": "exact",
     "debits": [],
     "dueNow": {
      "amount": 6890,
      "currency": "EUR"
     },
     "items": [
      {
       "itemId": "e9854622-f6b7-4ff6-b410-c9ba8a1630a5",
       "name": "Flex, monthly",
       "notice": "You can cancel at any time. The contract ends one month later at the latest.",
       "price": {
        "amount": 6890,
        "currency": "EUR"
       },
       "startDate": "2030-01-15",
       "withdrawal": {
        "from": "contract",
        "right": true,
        "until": "2026-12-14"
       }
      }
     ],
     "notice": "You can cancel at any time. The contract ends one month later at the latest.",
     "recurrence": [
      {
       "basis": "exact",
       "day": 10,
       "every": "P1M",
       "from": "2030-03-10",
       "price": {
        "amount": 3990,
        "currency": "EUR"
       }
      }
     ]
    }
   },
   "payment": {
    "agreements": [
     {
      "at": "2026-11-30T11:12:44Z",
      "document": "terms",
      "language": "en",
      "sha256": "0b8a34b9c869f1baf24a1d26b94744eb6e9473d22c3ff97fdf33f8d0f71ae40e",
      "version": "2026-11"
     },
     {
      "at": "2026-11-30T11:12:44Z",
      "document": "privacy",
      "language": "en",
      "sha256": "5dbf5177e78d31596390458eb7f0d985691eeb35288ba6223b9a9cc6e672ed39",
      "version": "2026-11"
     },
     {
      "at": "2026-11-30T11:12:44Z",
      "document": "withdrawal_information",
      "language": "en",
      "sha256": "2d86bd04174a06a49765e236a9be393687807a967e1a8a0e1d0934c0e33f4d01",
      "version": "2026-11"
     }
    ],
    "card": {
     "presentation": "none",
     "processor": "stripe"
    },
    "id": "a1cf8c44-bad6-4a8d-899e-69a786c515db-1",
    "method": "card",
    "payAgain": "no",
    "state": "recorded",
    "total": {
     "amount": 6890,
     "currency": "EUR"
    }
   },
   "sequence": 3592074329865921,
   "state": "completed",
   "step": "done",
   "version": "PM6TR1dKEYfPO-V8"
  }
 },
 "problems": {
  "malformed_request": {
   "code": "malformed_request",
   "retry": "never",
   "status": 400,
   "then": "fix_request",
   "title": "The request cannot be read",
   "traceId": "7c7b5196895f8b9f4a2e6e8dcfc28de4",
   "type": "/docs/problems#malformed_request"
  },
  "invalid_request": {
   "code": "invalid_request",
   "retry": "never",
   "status": 422,
   "then": "correct_input",
   "title": "Some fields are wrong",
   "traceId": "185b21d43c47a69546964480e8776a94",
   "type": "/docs/problems#invalid_request"
  },
  "card_number_refused": {
   "code": "card_number_refused",
   "retry": "never",
   "status": 422,
   "then": "correct_input",
   "title": "Card numbers are not accepted",
   "traceId": "f086f5c03cbbd78557ea9fc2a874745c",
   "type": "/docs/problems#card_number_refused"
  },
  "not_identified": {
   "code": "not_identified",
   "retry": "never",
   "status": 401,
   "then": "log_in",
   "title": "The caller is not identified",
   "traceId": "59e7785c47003f9a9046fba77a636fc5",
   "type": "/docs/problems#not_identified"
  },
  "too_large": {
   "code": "too_large",
   "retry": "never",
   "status": 413,
   "then": "fix_request",
   "title": "The body is too large",
   "traceId": "fc141190985ac82a5a14874c254d9258",
   "type": "/docs/problems#too_large"
  },
  "unsupported_media_type": {
   "code": "unsupported_media_type",
   "retry": "never",
   "status": 415,
   "then": "fix_request",
   "title": "The body is not sent as JSON",
   "traceId": "6745a1707f85a555e0ffb66411032b58",
   "type": "/docs/problems#unsupported_media_type"
  },
  "challenge_required": {
   "challenge": {
    "provider": "other"
   },
   "code": "challenge_required",
   "retry": "never",
   "status": 403,
   "then": "captcha",
   "title": "A captcha is required",
   "traceId": "961ae59d9a16034ef9406bd9258bb53a",
   "type": "/docs/problems#challenge_required"
  },
  "rate_limited": {
   "code": "rate_limited",
   "retry": "after",
   "retryAfter": 3,
   "status": 429,
   "then": "send_again",
   "title": "Too many requests",
   "traceId": "f0685e8f3f78332956fad82351a4bb43",
   "type": "/docs/problems#rate_limited"
  },
  "staff_key_unknown": {
   "code": "staff_key_unknown",
   "retry": "never",
   "status": 401,
   "then": "log_in",
   "title": "The staff key is unknown",
   "traceId": "e351ffceccef54fa9879e1cdcda4ce16",
   "type": "/docs/problems#staff_key_unknown"
  },
  "key_reused": {
   "code": "key_reused",
   "retry": "never",
   "status": 422,
   "then": "fix_request",
   "title": "The Idempotency-Key was used for another request",
   "traceId": "7ce03a6bc486ada3f978b2be820a78a1",
   "type": "/docs/problems#key_reused"
  },
  "key_in_use": {
   "code": "key_in_use",
   "retry": "after",
   "retryAfter": 5,
   "status": 409,
   "then": "send_again",
   "title": "The first request with this Idempotency-Key is still running",
   "traceId": "411bde897e882df973d90edd4f62d78b",
   "type": "/docs/problems#key_in_use"
  },
  "club_system_failed": {
   "code": "club_system_failed",
   "retry": "same_key",
   "retryAfter": 3,
   "status": 502,
   "then": "send_again",
   "title": "The club system failed",
   "traceId": "278017b8167657b9a0532012cf58cd26",
   "type": "/docs/problems#club_system_failed"
  },
  "club_system_unavailable": {
   "code": "club_system_unavailable",
   "retry": "after",
   "retryAfter": 5,
   "status": 503,
   "then": "send_again",
   "title": "The club system is not available",
   "traceId": "f3cb3ef0b87f4eddd60c773ced49a0fb",
   "type": "/docs/problems#club_system_unavailable"
  },
  "identity_unavailable": {
   "code": "identity_unavailable",
   "retry": "after",
   "retryAfter": 4,
   "status": 503,
   "then": "send_again",
   "title": "The club's login is not available",
   "traceId": "32036f1fe6b0aed1149d4e47f241c5bb",
   "type": "/docs/problems#identity_unavailable"
  },
  "storage_unavailable": {
   "code": "storage_unavailable",
   "retry": "after",
   "retryAfter": 4,
   "status": 503,
   "then": "send_again",
   "title": "Temporarily not available",
   "traceId": "d87e60bfb289242df567a736b16b7986",
   "type": "/docs/problems#storage_unavailable"
  },
  "overloaded": {
   "code": "overloaded",
   "retry": "after",
   "retryAfter": 4,
   "status": 503,
   "then": "send_again",
   "title": "Too many visitors at the moment",
   "traceId": "9f7d00f9bb10391958c1db298a79700d",
   "type": "/docs/problems#overloaded"
  },
  "internal": {
   "code": "internal",
   "retry": "same_key",
   "retryAfter": 4,
   "status": 500,
   "then": "send_again",
   "title": "Something went wrong",
   "traceId": "f528ece4dd26453bf03bd843f2a2af79",
   "type": "/docs/problems#internal"
  },
  "not_found": {
   "code": "not_found",
   "retry": "never",
   "status": 404,
   "then": "fix_request",
   "title": "Not found",
   "traceId": "ac80ca24ef97c61c84ff91bb61f8d90e",
   "type": "/docs/problems#not_found"
  },
  "conflict": {
   "code": "conflict",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "Changed at the same time",
   "traceId": "f67fcd2e3f31eaf6cceeaf2cc7349184",
   "type": "/docs/problems#conflict"
  },
  "club_not_found": {
   "code": "club_not_found",
   "retry": "never",
   "status": 404,
   "then": "read_again",
   "title": "The club is not found",
   "traceId": "994118c005892f7a795cac0e1d8106bf",
   "type": "/docs/problems#club_not_found"
  },
  "offer_not_found": {
   "code": "offer_not_found",
   "retry": "never",
   "status": 404,
   "then": "read_again",
   "title": "The offer is not found",
   "traceId": "c1fef924c2f53bd76d27668a8c012f21",
   "type": "/docs/problems#offer_not_found"
  },
  "staff_only": {
   "code": "staff_only",
   "retry": "never",
   "status": 403,
   "then": "fix_request",
   "title": "For staff only",
   "traceId": "c0e0f649a891344502f4ba7eb4f5403c",
   "type": "/docs/problems#staff_only"
  },
  "offer_not_available": {
   "code": "offer_not_available",
   "retry": "never",
   "status": 422,
   "then": "correct_input",
   "title": "The offer is not available",
   "traceId": "c9915ef5d4792bfe99df8bf00afaf0cc",
   "type": "/docs/problems#offer_not_available"
  },
  "sms_limited": {
   "code": "sms_limited",
   "retry": "after",
   "retryAfter": 2,
   "status": 429,
   "then": "send_again",
   "title": "Too many codes for now",
   "traceId": "5ba53bd8e0eb7ff2a7aca8337e31c3a6",
   "type": "/docs/problems#sms_limited"
  },
  "sms_paused": {
   "code": "sms_paused",
   "retry": "after",
   "retryAfter": 4,
   "status": 503,
   "then": "send_again",
   "title": "No codes are sent at the moment",
   "traceId": "06e854aeeb8c4b1f3b6d308cf83454d0",
   "type": "/docs/problems#sms_paused"
  },
  "mobile_unreachable": {
   "code": "mobile_unreachable",
   "retry": "never",
   "status": 409,
   "then": "correct_input",
   "title": "No code can be sent to this mobile number",
   "traceId": "5de4954fce17104d79ffa9fd5ff75b1a",
   "type": "/docs/problems#mobile_unreachable"
  },
  "migration_club": {
   "code": "migration_club",
   "retry": "never",
   "status": 409,
   "then": "correct_input",
   "title": "The person cannot move to this club",
   "traceId": "10f284f374ee5cf5bbed42787d7edc14",
   "type": "/docs/problems#migration_club"
  },
  "migration_contact": {
   "code": "migration_contact",
   "retry": "never",
   "status": 409,
   "then": "correct_input",
   "title": "The person cannot move",
   "traceId": "99c983efc08de91dbe375324a3e14294",
   "type": "/docs/problems#migration_contact"
  },
  "migration_not_shared": {
   "code": "migration_not_shared",
   "retry": "never",
   "status": 409,
   "then": "correct_input",
   "title": "The clubs do not share the person's details",
   "traceId": "84eef7ca886bc685a4ffa3a7c7c529ac",
   "type": "/docs/problems#migration_not_shared"
  },
  "no_code": {
   "code": "no_code",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "No code is active",
   "traceId": "51f4f30d27aab0d1ccf32c6161172630",
   "type": "/docs/problems#no_code"
  },
  "code_wrong": {
   "code": "code_wrong",
   "retry": "never",
   "status": 422,
   "then": "correct_input",
   "title": "The code is wrong",
   "traceId": "13efb5d4999468a883bc265e03891007",
   "type": "/docs/problems#code_wrong"
  },
  "code_expired": {
   "code": "code_expired",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "The code is no longer valid",
   "traceId": "d51d322870752bd506ba59fb7c43b013",
   "type": "/docs/problems#code_expired"
  },
  "code_blocked": {
   "code": "code_blocked",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "Too many wrong codes",
   "traceId": "17f46136dedf696bca9deea4a8ae25d5",
   "type": "/docs/problems#code_blocked"
  },
  "invitation_invalid": {
   "code": "invitation_invalid",
   "retry": "never",
   "status": 422,
   "then": "correct_input",
   "title": "The invitation is not valid",
   "traceId": "8954c92a3b57ccfe9229cd4192cb0ab9",
   "type": "/docs/problems#invitation_invalid"
  },
  "contact_banned": {
   "code": "contact_banned",
   "retry": "never",
   "status": 403,
   "then": "correct_input",
   "title": "The club does not sell to this contact",
   "traceId": "2ea13aa182ec192549e09e3de8baa185",
   "type": "/docs/problems#contact_banned"
  },
  "person_known": {
   "code": "person_known",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "The club knows the buyer",
   "traceId": "fc3e2dd1465c029dd64d4ca64d140d49",
   "type": "/docs/problems#person_known"
  },
  "other_club": {
   "code": "other_club",
   "retry": "never",
   "status": 409,
   "then": "correct_input",
   "title": "The contact belongs to another club",
   "traceId": "a5b933ec0c5a88c5190044544590bff9",
   "type": "/docs/problems#other_club"
  },
  "registration_not_found": {
   "code": "registration_not_found",
   "retry": "never",
   "status": 404,
   "then": "start_again",
   "title": "The registration is not found",
   "traceId": "b2ef2ba388b28d7dbac20bd13fc76278",
   "type": "/docs/problems#registration_not_found"
  },
  "registration_closed": {
   "code": "registration_closed",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "The registration is closed",
   "traceId": "0128f82d7c718950b5cd4ea3b4095fe9",
   "type": "/docs/problems#registration_closed"
  },
  "token_required": {
   "code": "token_required",
   "retry": "never",
   "status": 401,
   "then": "log_in",
   "title": "The registration's token is needed",
   "traceId": "f9ef30f6e5e98beee07a1e2a9efd0035",
   "type": "/docs/problems#token_required"
  },
  "forbidden_origin": {
   "code": "forbidden_origin",
   "retry": "never",
   "status": 403,
   "then": "fix_request",
   "title": "The origin is not allowed",
   "traceId": "e49fff28d5bd96ce476fb0c7faf1b84d",
   "type": "/docs/problems#forbidden_origin"
  },
  "payment_under_way": {
   "code": "payment_under_way",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "A payment is in progress",
   "traceId": "65e7bf8e1ac9a6b0c97a65df53fa3089",
   "type": "/docs/problems#payment_under_way"
  },
  "processor_unavailable": {
   "code": "processor_unavailable",
   "retry": "after",
   "retryAfter": 4,
   "status": 503,
   "then": "send_again",
   "title": "The card processor is not available",
   "traceId": "13b122eeaa88f3d9fa7605c284137d92",
   "type": "/docs/problems#processor_unavailable"
  },
  "no_confirmation": {
   "code": "no_confirmation",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "There is no confirmation",
   "traceId": "d0115cd36174e2013a88dcbc447603f5",
   "type": "/docs/problems#no_confirmation"
  },
  "person_required": {
   "code": "person_required",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "The buyer's details are missing",
   "traceId": "bb24b014850b2d92a4fce8ddada58098",
   "type": "/docs/problems#person_required"
  },
  "cart_frozen": {
   "code": "cart_frozen",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "The cart is frozen",
   "traceId": "a0fcaae458e8caa9459f65b880692826",
   "type": "/docs/problems#cart_frozen"
  },
  "cart_invalid": {
   "code": "cart_invalid",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "The cart is not valid",
   "traceId": "fb85d1a1b0273e259a42249e07d6e671",
   "type": "/docs/problems#cart_invalid"
  },
  "item_required": {
   "code": "item_required",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "The item cannot be removed alone",
   "traceId": "b22bf8453628076b0d6684b5dfea8c41",
   "type": "/docs/problems#item_required"
  },
  "guardian_required": {
   "code": "guardian_required",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "A parent or legal guardian is needed",
   "traceId": "2f5e6a9c38a4afdd64fb1494f7ce2b59",
   "type": "/docs/problems#guardian_required"
  },
  "mandate_not_needed": {
   "code": "mandate_not_needed",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "No mandate is needed",
   "traceId": "40d86b63e5e635eff040d50227119427",
   "type": "/docs/problems#mandate_not_needed"
  },
  "mandate_signed": {
   "code": "mandate_signed",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "The mandate is signed",
   "traceId": "90eaf07cc2dd4e574289a1adb0f79ae1",
   "type": "/docs/problems#mandate_signed"
  },
  "cart_empty": {
   "code": "cart_empty",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "The cart is empty",
   "traceId": "154172fbb87a87079d7e799da098491e",
   "type": "/docs/problems#cart_empty"
  },
  "cart_changed": {
   "code": "cart_changed",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "The cart has changed",
   "traceId": "fb87f39596945b5b4ca24d0c0f5aa27c",
   "type": "/docs/problems#cart_changed"
  },
  "agreement_missing": {
   "code": "agreement_missing",
   "retry": "never",
   "status": 422,
   "then": "correct_input",
   "title": "An agreement is missing",
   "traceId": "fcd5ef8c94b02c7426bd78840defc149",
   "type": "/docs/problems#agreement_missing"
  },
  "mandate_required": {
   "code": "mandate_required",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "A mandate is needed",
   "traceId": "fdf636df24b8fc23b61b4f3f31a9987a",
   "type": "/docs/problems#mandate_required"
  },
  "nothing_due": {
   "code": "nothing_due",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "Nothing is due",
   "traceId": "53c29034f9baece6dfbfa2a9287c1436",
   "type": "/docs/problems#nothing_due"
  },
  "amount_due": {
   "code": "amount_due",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "An amount is due",
   "traceId": "d70b2dc11f4a24e1da2094482a162948",
   "type": "/docs/problems#amount_due"
  },
  "method_not_offered": {
   "code": "method_not_offered",
   "retry": "never",
   "status": 403,
   "then": "read_again",
   "title": "This way to pay is not offered",
   "traceId": "afe82e0906111c286b8b4547df7e0840",
   "type": "/docs/problems#method_not_offered"
  },
  "payment_exists": {
   "code": "payment_exists",
   "retry": "never",
   "status": 409,
   "then": "read_again",
   "title": "Another payment exists",
   "traceId": "3694d6af9f7731096dd9ec78003559ad",
   "type": "/docs/problems#payment_exists"
  },
  "possible_duplicate_purchase": {
   "code": "possible_duplicate_purchase",
   "retry": "never",
   "status": 409,
   "then": "correct_input",
   "title": "You have just bought this",
   "traceId": "f28fddc8b1ee9684c1ec781fa8b54deb",
   "type": "/docs/problems#possible_duplicate_purchase"
  },
  "access_token_refused": {
   "code": "access_token_refused",
   "retry": "never",
   "status": 422,
   "then": "log_in",
   "title": "The access token is not accepted",
   "traceId": "138ec0512d4496637f4a568d313db38e",
   "type": "/docs/problems#access_token_refused"
  },
  "resumption_invalid": {
   "code": "resumption_invalid",
   "retry": "never",
   "status": 422,
   "then": "correct_input",
   "title": "The link is not valid",
   "traceId": "94d7e9ad7aba13106d72a041d3d03807",
   "type": "/docs/problems#resumption_invalid"
  }
 }
};
