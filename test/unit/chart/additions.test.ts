import t from 'tap'
import { type Container, find, podsOf, renderChart } from '../../support/sources/chart.ts'

// Additions of a user to the programs: labels, variables, annotations of service accounts.

interface Workload {
  spec: { selector: { matchLabels: object }; template: { metadata: { labels: Record<string, string> }; spec: { containers: Container[] } } }
}
const deployment = async (program: string, settings: Record<string, unknown>) =>
  find<Workload>(await renderChart(settings), 'Deployment', `tintype-${program}`).spec

const sections = [
  { section: 'gateway', program: 'api-gateway' },
  { section: 'operator', program: 'operator' },
]
const refusal = (settings: Record<string, unknown>): Promise<string> =>
  renderChart(settings).then(
    () => 'rendered',
    (error: { output?: string }) => error.output ?? String(error),
  )

for (const { section, program } of sections) {
  t.test(`chart adds labels to the pods of the ${program}, but not to its selector`, async (t) => {
    const { selector, template } = await deployment(program, { [`${section}.podLabels`]: { team: 'web', 'example.com/tier': '1' } })
    t.match(template.metadata.labels, { team: 'web', 'example.com/tier': '1', 'app.kubernetes.io/component': program })
    t.notHas(selector.matchLabels, { team: 'web' })
    t.match(template.metadata.labels, selector.matchLabels)
  })

  t.test(`chart adds variables to the ${program}, and rejects one that the chart sets itself`, async (t) => {
    const added = [
      { name: 'NODE_OPTIONS', value: '--max-old-space-size=200' },
      { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'mine', key: 'token' } } },
    ]
    const before = (await deployment(program, {})).template.spec.containers[0]?.env ?? []
    const after = (await deployment(program, { [`${section}.extraEnv`]: added })).template.spec.containers[0]?.env
    t.ok(before.length > 10)
    t.strictSame(after, [...before, ...added])
    for (const name of ['TINTYPE_LOG_LEVEL', 'TINTYPE_STORAGE_SECRET_KEY', before.at(-1)?.name])
      t.match(
        await refusal({ [`${section}.extraEnv`]: [{ name, value: 'mine' }] }),
        `${section}.extraEnv sets ${name}, which the chart sets itself`,
      )
    const twice = [added[0], added[0]]
    t.match(await refusal({ [`${section}.extraEnv`]: twice }), `${section}.extraEnv sets NODE_OPTIONS`)
  })
}

t.test('chart adds labels and annotations to runner pods through their pool', async (t) => {
  const rendered = await renderChart({ 'runner.podLabels': { team: 'web' }, 'runner.podAnnotations': { 'example.com/a': 'b' } })
  const { spec } = find<{ spec: { podTemplate: object } }>(rendered, 'RunnerPool', 'default')
  t.match(spec.podTemplate, { labels: { team: 'web' }, annotations: { 'example.com/a': 'b' } })
})

for (const section of ['gateway', 'operator', 'runner']) {
  t.test(`chart rejects a label of ${section}'s pods that the chart sets itself`, async (t) => {
    t.match(
      await refusal({ [`${section}.podLabels`]: { 'app.kubernetes.io/component': 'mine' } }),
      `${section}.podLabels sets app.kubernetes.io/component, which the chart sets itself`,
    )
  })
}

for (const name of ['tintype.dev/pool', 'tintype.dev/template-hash', 'tintype.dev/mine']) {
  t.test(`chart refuses the label ${name} of runners' pods, which belongs to the operator`, async (t) => {
    t.match(await refusal({ 'runner.podLabels': { [name]: 'mine' } }), `runner.podLabels sets ${name}, which the operator sets itself`)
  })
}

t.test('chart annotates the service account of each program with its own values', async (t) => {
  const accounts = { gateway: 'api-gateway', operator: 'operator', runner: 'capture-runner', 'minio.setup': 'storage-setup' }
  const settings = Object.keys(accounts).map((section) => [
    `${section}.serviceAccount.annotations`,
    { 'eks.amazonaws.com/role-arn': `arn:${section}` },
  ])
  const [plain, annotated] = await Promise.all([renderChart(), renderChart(Object.fromEntries(settings))])
  for (const [section, account] of Object.entries(accounts)) {
    t.equal(find(plain, 'ServiceAccount', `tintype-${account}`).metadata.annotations, undefined)
    t.match(find(annotated, 'ServiceAccount', `tintype-${account}`).metadata.annotations, {
      'eks.amazonaws.com/role-arn': `arn:${section}`,
    })
  }
  const setup = podsOf(annotated).find(({ name }) => name.startsWith('Job tintype-storage-setup'))
  t.equal(setup?.spec.serviceAccountName, 'tintype-storage-setup')
})

t.test('helm test prints the output of each of its pods and deletes the pod, also after a failure', async (t) => {
  const tests = (await renderChart()).filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test')
  t.equal(tests.length, 2)
  for (const { metadata } of tests)
    t.match(metadata.annotations, {
      'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded,hook-failed',
      'helm.sh/hook-output-log-policy': 'hook-succeeded,hook-failed',
    })
})
