/**
 * What each identity of the bucket may do in each folder: operator, gateway, uploads, links. It is written by hand, and not made from the table of the
 * product, because the tests of rights check that table.
 */
const RIGHTS = `
users:       get put copy delete list | get delete list     | put | get
records:     get put delete list      | get put list        |     |
rewrites:    put delete list          | put list            |     |
batches:     delete list              | get put list        |     |
idempotency: delete list              | get put delete list |     |
options:     get delete list          | put list            |     |
cache:       get put delete list      | get list            |     |
events:      get put list             | get list            |     |
deliveries:  get put delete list      | get list            |     |
undelivered: get put delete list      | list                |     |
expiries:    get put delete list      | list                |     |
gone:        get put delete list      | list                |     |
runs:        put delete list          | get list            |     |
schedules:   get delete list          | put list            |     |
baselines:   get put copy delete list | list                |     |
names:       get put delete list      | list                |     |
`

/** The rights by folder and identity. */
export function readRightsTable(): Map<string, Map<string, string[]>> {
  const rows = [...RIGHTS.matchAll(/^([a-z]+):(.*)$/gm)].map(([, folder = '', cells = '']) => {
    const allowed = cells.split('|').map((cell) => cell.split(' ').filter((word) => word !== ''))
    return [folder, new Map(['operator', 'gateway', 'uploads', 'links'].map((role, index) => [role, allowed[index] ?? []]))] as const
  })
  return new Map(rows)
}
