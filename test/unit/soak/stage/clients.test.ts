import t from 'tap'
import { sendSteadily } from '../../../soak/stage/clients.ts'
import { sendJson, startScriptedServer } from '../../crds/client/scripted-server.ts'

t.test('sendSteadily counts accepted requests and reports each rejected one', async (t) => {
  const { url } = await startScriptedServer(t, ({ response }, number) => {
    if (number === 2) return sendJson(response, { error: { message: 'come again' } }, 503)
    sendJson(response, { screenshots: [1, 2].map((n) => ({ id: `scr_${number}${n}`, status: 'pending' })) }, 202)
  })
  const refused: string[] = []
  const onRefused = (what: string) => void refused.push(what)
  const asked = await sendSteadily({ urls: [url], keys: ['key'], perSecond: 60, seconds: 0.1, batch: 2, onRefused })
  t.strictSame(refused, ['503 come again'])
  t.strictSame(asked.others, { '503 come again': 2 })
  t.equal(asked.accepted.length, 4)
})
