import t from 'tap'
import { CommandError } from '../cluster/host/exec.ts'
import { kubectl } from '../cluster/kubernetes/kubectl.ts'
import { NAMESPACE } from '../support/cluster/tested-release.ts'

// The chart's roles are aggregated to the cluster roles view and edit: their holders get the permissions of the chart in the namespace.

const people = { viewer: 'view', editor: 'edit', stranger: undefined }
for (const [person, role] of Object.entries(people)) {
  if (role === undefined) continue
  const binding = `roles-test-${person}`
  await kubectl(['delete', 'rolebinding', binding, '-n', NAMESPACE, '--ignore-not-found'])
  await kubectl(['create', 'rolebinding', binding, '-n', NAMESPACE, `--clusterrole=${role}`, `--user=roles-test-${person}`])
  t.teardown(() => kubectl(['delete', 'rolebinding', binding, '-n', NAMESPACE]))
}

/** kubectl exits with 1 when the access is denied. */
const may = (person: string, verb: string, what: readonly string[]): Promise<boolean> =>
  kubectl(['auth', 'can-i', verb, ...what, '-n', NAMESPACE, '--as', `roles-test-${person}`]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof CommandError && /^no\b/.test(error.output)) return false
      throw error
    },
  )

const cases: [verb: string, what: string[], who: string[]][] = [
  ['list', ['screenshots.tintype.dev'], ['viewer', 'editor']],
  ['get', ['runnerpools.tintype.dev/default'], ['viewer', 'editor']],
  ['create', ['screenshots.tintype.dev'], ['editor']],
  ['use', ['accounts.tintype.dev/default'], ['editor']],
  ['delete', ['webhooks.tintype.dev'], ['editor']],
  ['repair', ['accounts.tintype.dev'], []],
  ['update', ['runnerpools.tintype.dev/default', '--subresource=scale'], ['editor']],
  ['update', ['accounts.tintype.dev'], []],
  ['patch', ['screenshots.tintype.dev/any', '--subresource=status'], []],
]
for (const [verb, what, who] of cases) {
  t.test(`cluster roles let ${who.join(' and ') || 'none of them'} ${verb} ${what.join(' ')}`, async (t) => {
    for (const person of Object.keys(people)) t.equal(await may(person, verb, what), who.includes(person), person)
  })
}
