import t from 'tap'
import type { CapturePolicySpec } from '../../../../crds/src/kinds/capture-policy.ts'
import { findNarrowerField, intersectHosts, isAtLeastAsWide } from '../../../../crds/src/policies/width.ts'

type Policy = CapturePolicySpec | undefined

const one = { allowedHosts: ['example.com'] }

/** A policy, another one, and the first field in which it allows less. */
const table: [policy: Policy, other: Policy, narrower: keyof CapturePolicySpec | undefined][] = [
  [undefined, undefined, undefined],
  [undefined, { allowedHosts: [], allowedRequestHosts: [], allowedOptions: [], allowOwnContent: false }, undefined],
  [{}, undefined, undefined],
  [one, undefined, 'allowedHosts'],
  [one, {}, 'allowedHosts'],
  [one, one, undefined],
  [one, { allowedHosts: [] }, undefined],
  [{ allowedHosts: [] }, one, 'allowedHosts'],
  [{ allowedHosts: ['a.example', 'b.example'] }, { allowedHosts: ['b.example'] }, undefined],
  [{ allowedHosts: ['b.example'] }, { allowedHosts: ['a.example', 'b.example'] }, 'allowedHosts'],
  [{ allowedHosts: ['*.example.com'] }, { allowedHosts: ['a.example.com', '*.b.example.com', '*.example.com'] }, undefined],
  [{ allowedHosts: ['*.example.com'] }, one, 'allowedHosts'],
  [{ allowedHosts: ['*.a.example.com'] }, { allowedHosts: ['*.example.com'] }, 'allowedHosts'],
  [{ allowedHosts: ['*.example.com'] }, { allowedHosts: ['badexample.com'] }, 'allowedHosts'],
  [{ allowedHosts: ['a.example.com'] }, { allowedHosts: ['*.example.com'] }, 'allowedHosts'],
  [{ allowedHosts: ['*.0.0.1'] }, { allowedHosts: ['127.0.0.1'] }, 'allowedHosts'],
  [{ allowedRequestHosts: ['example.com'] }, undefined, 'allowedRequestHosts'],
  [{ allowedRequestHosts: ['example.com'] }, one, 'allowedRequestHosts'],
  [undefined, { allowedRequestHosts: ['example.com'] }, undefined],
  [{ allowedRequestHosts: ['*.example.com'] }, { allowedRequestHosts: ['cdn.example.com'] }, undefined],
  [{ allowedOptions: ['format'] }, undefined, 'allowedOptions'],
  [{ allowedOptions: ['format'] }, { allowedOptions: ['format', 'delay'] }, 'allowedOptions'],
  [{ allowedOptions: ['format', 'delay'] }, { allowedOptions: ['format'] }, undefined],
  [one, { ...one, allowOwnContent: true }, 'allowOwnContent'],
  [{ ...one, allowOwnContent: true }, one, undefined],
  [{ allowOwnContent: false }, undefined, 'allowOwnContent'],
  [{ allowOwnContent: false }, one, undefined],
  [undefined, { ...one, allowOwnContent: true }, undefined],
]

t.test('a policy is at least as wide as another one if it allows everything that the other allows', async (t) => {
  for (const [policy, other, narrower] of table) {
    t.equal(findNarrowerField(policy, other), narrower, `${JSON.stringify(policy)} and ${JSON.stringify(other)}`)
    t.equal(isAtLeastAsWide(policy, other), narrower === undefined)
  }
})

t.test('two lists allow the hosts that both allow', async (t) => {
  t.equal(intersectHosts(undefined, undefined), undefined)
  t.strictSame(intersectHosts(['a.example'], undefined), ['a.example'])
  t.strictSame(intersectHosts(undefined, []), [])
  t.strictSame(intersectHosts(['a.example', 'b.example'], ['b.example', 'c.example']), ['b.example'])
  t.strictSame(intersectHosts(['*.example.com', 'a.org'], ['x.example.com', '*.y.example.com', '*.org']), [
    'a.org',
    'x.example.com',
    '*.y.example.com',
  ])
  t.strictSame(intersectHosts(['*.example.com'], ['example.com', '*.com']), ['*.example.com'])
})
