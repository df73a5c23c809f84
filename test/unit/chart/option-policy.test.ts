import t from 'tap'
import { DEFAULT_OPTION_POLICY, OptionPolicyText } from '../../../crds/src/options/policy.ts'
import { type Container, find, type PodSpec, renderChart } from '../../support/sources/chart.ts'

type WithEnvironment = Container & { env?: { name: string; value?: string }[] }

const policyOf = (objects: Awaited<ReturnType<typeof renderChart>>, program: string) => {
  const { spec } = find<{ spec: { template: { spec: PodSpec } } }>(objects, 'Deployment', `tintype-${program}`)
  const [container] = spec.template.spec.containers as WithEnvironment[]
  return OptionPolicyText.parse(container?.env?.find(({ name }) => name === 'TINTYPE_OPTION_POLICY')?.value)
}

t.test('the chart passes the same allowed options to gateway and operator', async (t) => {
  const usual = await renderChart()
  const closed = await renderChart({ 'capture.allowedOptions.scripts': false })
  for (const program of ['api-gateway', 'operator']) {
    t.strictSame(policyOf(usual, program), DEFAULT_OPTION_POLICY)
    t.strictSame(policyOf(closed, program), { ...DEFAULT_OPTION_POLICY, scripts: false })
  }
})
