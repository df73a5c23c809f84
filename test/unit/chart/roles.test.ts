import { readdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { chartDirectory, find, renderChart } from '../../support/sources/chart.ts'
import { declaredRights, toText } from '../../support/sources/declared-rights.ts'

// The programs declare their permissions in lines `// rbac: <group>/<resource> <verb>,<verb>`; the chart grants exactly these.

const objects = await renderChart()

interface Rule {
  apiGroups: string[]
  resources: string[]
  resourceNames?: string[]
  verbs: string[]
}

/** The declared permissions as lines `group/resource verb`. */
const needsOf = (program: string, isWanted: (file: string) => boolean): string[] => declaredRights(program, isWanted).map(toText).sort()

const sorted = (texts: string[]) => [...new Set(texts)].sort()

/** The permissions of an account's roles, in the same form. */
function rightsOf(...roles: [kind: 'Role' | 'ClusterRole', name: string][]): string[] {
  const rules = roles.flatMap(([kind, name]) => find<{ rules: Rule[] }>(objects, kind, name).rules)
  return sorted(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`))),
    ),
  )
}

t.test('chart grants the operator exactly the permissions that its files declare', async (t) => {
  const needs = needsOf('operator', (file) => !file.startsWith('setup/'))
  t.ok(needs.length > 20, 'control: files declare permissions')
  t.strictSame(rightsOf(['Role', 'tintype-operator'], ['ClusterRole', 'tintype-operator']), needs)
})

t.test('chart grants the gateway exactly the permissions that its files declare', async (t) => {
  const needs = needsOf('api-gateway', () => true)
  t.ok(needs.length > 5, 'control: files declare permissions')
  t.strictSame(rightsOf(['Role', 'tintype-api-gateway']), needs)
})

t.test('chart grants runners one verb on one subresource', async (t) => {
  t.strictSame(
    needsOf('capture-runner', () => true),
    ['tintype.dev/screenshots/status patch'],
  )
  t.strictSame(rightsOf(['Role', 'tintype-capture-runner']), ['tintype.dev/screenshots/status patch'])
})

t.test('chart grants the CRD hook only the permissions of apply-crds, for the release’s kinds', async (t) => {
  t.strictSame(
    rightsOf(['ClusterRole', 'tintype-crd-upgrade']),
    needsOf('operator', (file) => file.startsWith('setup/')),
  )
  const { rules } = find<{ rules: Rule[] }>(objects, 'ClusterRole', 'tintype-crd-upgrade')
  t.strictSame(
    rules.flatMap(({ resourceNames = [] }) => resourceNames).sort(),
    readdirSync(path.join(chartDirectory, 'crds'))
      .map((file) => file.replace(/^tintype\.dev_(.*)\.yaml$/, '$1.tintype.dev'))
      .sort(),
  )
})

t.test('chart lets no program list Secrets, run commands in pods, write roles or use a wildcard', async (t) => {
  const names = ['operator', 'api-gateway', 'capture-runner'].map((component) => `tintype-${component}`)
  const all = [...names.flatMap((name) => rightsOf(['Role', name])), ...rightsOf(['ClusterRole', 'tintype-operator'])]
  const tooMuch = all.filter((right) => /\*|secrets (list|watch|update|patch|delete)|pods\/|impersonate|rbac|escalate| bind/.test(right))
  t.strictSame(tooMuch, [])
})

t.test('chart binds each service account to its own roles only', async (t) => {
  const bindings = objects.filter(({ kind }) => kind.endsWith('RoleBinding')) as unknown as {
    metadata: { name: string }
    roleRef: { name: string }
    subjects: { kind: string; name: string; namespace: string }[]
  }[]
  for (const { metadata, roleRef, subjects } of bindings) {
    t.equal(roleRef.name, metadata.name)
    t.strictSame(subjects, [{ kind: 'ServiceAccount', name: metadata.name, namespace: 'tintype' }], metadata.name)
  }
})
