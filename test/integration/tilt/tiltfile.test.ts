import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { repository } from '../../cluster/host/state.ts'
import { images } from '../../cluster/images/plan.ts'
import { assertEvery, assertSome } from '../../support/accepts.ts'
import { podsOf, type Rendered, renderChart } from '../../support/sources/chart.ts'
import { runTiltfile } from './starlark.ts'

// The Tiltfile as Starlark, compared with the chart and the Dockerfiles that it names.

const source = readFileSync(path.join(repository, 'Tiltfile'), 'utf8')
const calls = await runTiltfile(source)
const callsOf = (name: string) => calls.filter((call) => call.function === name)

const [chart] = callsOf('helm') as unknown as { chart: string; name: string; namespace: string; set: string[] }[]
const rendered: Rendered[] = await renderChart(
  {},
  (chart?.set ?? []).flatMap((setting) => ['--set', setting]),
)
const builds = callsOf('custom_build') as unknown as { ref: string; command: string; deps: string[] }[]

t.test('the check of Tiltfiles rejects invalid Starlark and wrong calls of Tilt’s functions', async (t) => {
  for (const wrong of ['def (', "docker_biuld('x', '.')", "k8s_resource('x', ports = 1)", "custom_build('x', 'y')"]) {
    await t.rejects(runTiltfile(`${source}\n${wrong}\n`), { name: 'CommandError', message: /exited with code 1/ }, wrong)
  }
})

t.test('Tiltfile installs the chart with known values', async (t) => {
  t.match(chart, { chart: 'charts/tintype', name: 'tintype', namespace: 'tintype' })
  t.equal(callsOf('helm').length, 1)
  t.ok(rendered.length > 20)
})

t.test('Tiltfile builds every image of the chart, from an existing Dockerfile and sources', async (t) => {
  const pools = rendered.filter(({ kind }) => kind === 'RunnerPool') as unknown as { spec: { podTemplate: { image: string } } }[]
  const wanted = [
    ...podsOf(rendered).flatMap(({ spec }) => spec.containers.map(({ image }) => image)),
    ...pools.map(({ spec }) => spec.podTemplate.image),
  ]
  const named = [...new Set(wanted.map((image) => image.replace(/:[^:/]+$/, '')))]
  t.strictSame(builds.map(({ ref }) => ref).sort(), named.sort())
  for (const { ref, command, deps } of builds) {
    const plan = images.find(({ name }) => ref.endsWith(`/${name}`))
    const given = Object.entries(plan?.arguments ?? {}).map(([name, value]) => `--build-arg ${name}=${value} `)
    t.equal(command, `npm run images -- --bundle --only ${plan?.name} && docker build -t $EXPECTED_REF ${given.join('')}${plan?.context}`)
    assertEvery(t, deps, (file) => existsSync(path.join(repository, file)), ref)
  }
})

t.test('Tiltfile declares where a RunnerPool names its image', async (t) => {
  t.match(callsOf('k8s_kind'), [{ kind: 'RunnerPool', api_version: 'tintype.dev/v1alpha1', image_json_path: '{.spec.podTemplate.image}' }])
})

t.test('Tiltfile creates every Secret that the chart expects', async (t) => {
  const made = callsOf('k8s_yaml').flatMap(({ yaml }) =>
    yaml === 'chart' ? [] : [JSON.parse(String(yaml)) as Rendered & { stringData?: object }],
  )
  const needed = [...JSON.stringify(podsOf(rendered)).matchAll(/"secretKeyRef":\{"name":"([^"]+)","key":"([^"]+)"/g)]
  t.ok(needed.length > 4)
  for (const [, name, key = ''] of needed) {
    const secret = made.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === name)
    t.ok(secret?.stringData && key in secret.stringData, `${name}: ${key}`)
  }
  assertEvery(t, rendered, ({ kind }) => kind !== 'Secret', 'no password changes when Tilt renders the chart again')
})

t.test('Tiltfile forwards the port of the gateway, and names only workloads of the chart', async (t) => {
  const workloads = rendered
    .filter(({ kind }) => /^(Deployment|StatefulSet|Job|RunnerPool)$/.test(kind))
    .map(({ metadata }) => metadata.name)
  const resources = callsOf('k8s_resource') as unknown as {
    workload: string
    new_name: string
    port_forwards: unknown
    resource_deps: string[]
  }[]
  for (const { workload, resource_deps } of resources) {
    t.ok(workloads.includes(workload), workload)
    for (const other of resource_deps) assertSome(t, resources, (one) => [one.workload, one.new_name].includes(other), other)
  }
  t.equal(resources.find(({ workload }) => workload === 'tintype-api-gateway')?.port_forwards, '8080:8080')
})
