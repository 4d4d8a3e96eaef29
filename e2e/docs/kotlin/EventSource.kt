// OkHttp's server-sent events: each source reads its response in a thread of its own.
package okhttp3.sse

import java.io.IOException
import kotlin.concurrent.thread
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.Response

interface EventSource {
    fun cancel()

    fun interface Factory {
        fun newEventSource(request: Request, listener: EventSourceListener): EventSource
    }
}

abstract class EventSourceListener {
    open fun onEvent(eventSource: EventSource, id: String?, type: String?, data: String) = Unit

    open fun onClosed(eventSource: EventSource) = Unit

    open fun onFailure(eventSource: EventSource, t: Throwable?, response: Response?) = Unit
}

object EventSources {
    fun createFactory(client: OkHttpClient) = EventSource.Factory { request, listener -> Source(client, request, listener) }
}

private class Source(client: OkHttpClient, request: Request, listener: EventSourceListener) : EventSource {
    @Volatile private var response: Response? = null
    @Volatile private var cancelled = false

    init {
        thread(isDaemon = true) {
            try {
                val opened = client.newCall(request).execute().also { response = it }
                when {
                    cancelled -> opened.close()
                    !opened.isSuccessful -> opened.use { listener.onFailure(this, null, it) }
                    opened.header("Content-Type") != "text/event-stream" -> throw IOException("Invalid content-type")
                    else -> opened.use { read(it, listener) }
                }
            } catch (broken: Exception) {
                listener.onFailure(this, broken, response)
            }
        }
    }

    private fun read(from: Response, listener: EventSourceListener) {
        var id: String? = null
        var type: String? = null
        val data = mutableListOf<String>()
        for (line in from.body!!.byteStream().bufferedReader().lineSequence()) {
            val value = line.substringAfter(": ")
            when (line.substringBefore(':')) {
                "id" -> id = value
                "event" -> type = value
                "data" -> data += value
            }
            if (line.isNotEmpty()) continue
            if (data.isNotEmpty()) listener.onEvent(this, id, type, data.joinToString("\n"))
            type = null
            data.clear()
        }
        listener.onClosed(this)
    }

    override fun cancel() {
        cancelled = true
        response?.close()
    }
}
