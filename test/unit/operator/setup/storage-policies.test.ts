import { readFileSync } from 'node:fs'
import t from 'tap'
import { gatewayPolicy, operatorPolicy } from '../../../../operator/src/setup/storage-policies.ts'

const readme = readFileSync(new URL('../../../../charts/tintype/README.md', import.meta.url), 'utf8')
const [operatorText = '', gatewayText = ''] = [...readme.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => text)

t.test('chart’s README grants on other stores what operatorPolicy grants on MinIO', async (t) => {
  t.strictSame(JSON.parse(operatorText), operatorPolicy('tintype'))
})

t.test('chart’s README grants on other stores what gatewayPolicy grants on MinIO', async (t) => {
  t.strictSame(JSON.parse(gatewayText), gatewayPolicy('tintype'))
})

t.test('policies name no bucket but the one that they are made for', async (t) => {
  for (const policy of [operatorPolicy('own'), gatewayPolicy('own')] as { Statement: { Resource: string[] }[] }[]) {
    for (const resource of policy.Statement.flatMap(({ Resource }) => Resource)) t.match(resource, /^arn:aws:s3:::own(\/|$)/)
  }
})
