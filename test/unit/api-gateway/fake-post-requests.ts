import type { PostRequests, RequestedPost } from '../../../api-gateway/src/store/ports.ts'
import type { Webhook } from '../../../crds/src/kinds/webhook.ts'
import type { PostAnswer } from '../../../crds/src/post-answer.ts'

/** An operator that keeps what it is asked, and answers what the test says; without an answer it is away. */
export class FakePostRequests implements PostRequests {
  readonly posts: { webhook: string; posts: RequestedPost }[] = []
  answer: PostAnswer | undefined

  async ask({ metadata }: Webhook, posts: RequestedPost): Promise<void> {
    this.posts.push({ webhook: metadata.name, posts })
  }
  async askAndWait(webhook: Webhook, posts: RequestedPost): Promise<PostAnswer | undefined> {
    await this.ask(webhook, posts)
    return this.answer
  }
}
