import { EXIT } from '../common/errors.ts'
import { diagnose } from '../diagnosis/diagnose.ts'
import type { Command } from './context.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Checks the settings, the connection, the service and the API key',
  async run(context) {
    let problems = 0
    for await (const finding of diagnose(context.settings, context.world.signal)) {
      const { check, status, message } = finding
      if (status === 'problem') problems += 1
      context.show(finding, `${status.padEnd(8)} ${check.padEnd(10)} ${message}`)
    }
    return problems === 0 ? EXIT.ok : EXIT.failed
  },
}
