import type { AskedPost, PostRequests } from '../../../api-gateway/src/store/ports.ts'
import type { Webhook } from '../../../crds/src/kinds/webhook.ts'
import type { PostAnswer } from '../../../crds/src/post-answer.ts'

/** An operator that keeps what it is asked, and answers what the test says; without an answer it is away. */
export class FakePostRequests implements PostRequests {
  readonly asked: { webhook: string; asked: AskedPost }[] = []
  answer: PostAnswer | undefined

  async ask({ metadata }: Webhook, asked: AskedPost): Promise<void> {
    this.asked.push({ webhook: metadata.name, asked })
  }
  async askAndWait(webhook: Webhook, asked: AskedPost): Promise<PostAnswer | undefined> {
    await this.ask(webhook, asked)
    return this.answer
  }
}
