// The part of OkHttp 4 that the app uses, over Java's own client.
package okhttp3

import java.io.Closeable
import java.io.InputStream
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration
import java.util.concurrent.TimeUnit

class MediaType private constructor(private val text: String) {
    override fun toString() = text

    companion object {
        fun String.toMediaType() = MediaType(this)
    }
}

class RequestBody private constructor(val contentType: MediaType?, val bytes: ByteArray) {
    companion object {
        fun String.toRequestBody(contentType: MediaType? = null) = RequestBody(contentType, toByteArray())

        fun ByteArray.toRequestBody(contentType: MediaType? = null) = RequestBody(contentType, this)
    }
}

class Request private constructor(val url: String, val method: String, val headers: Map<String, String>, val body: RequestBody?) {
    class Builder {
        private var url: String? = null
        private var method = "GET"
        private var body: RequestBody? = null
        private val headers = mutableMapOf<String, String>()

        fun url(url: String) = apply { this.url = url }

        fun header(name: String, value: String) = apply { headers[name] = value }

        fun method(method: String, body: RequestBody?) = apply {
            require(body == null || method != "GET" && method != "HEAD") { "method $method must not have a request body." }
            require(body != null || method !in setOf("POST", "PUT", "PATCH")) { "method $method must have a request body." }
            this.method = method
            this.body = body
        }

        fun build() = Request(checkNotNull(url) { "url == null" }, method, headers, body)
    }
}

class ResponseBody(private val stream: InputStream) : Closeable {
    fun byteStream() = stream

    fun string() = use { it.stream.readBytes().decodeToString() }

    override fun close() = stream.close()
}

class Response(val code: Int, private val headers: Map<String, String>, val body: ResponseBody?) : Closeable {
    val isSuccessful get() = code in 200..299

    fun header(name: String): String? = headers[name.lowercase()]

    override fun close() = body!!.close()
}

interface Call {
    fun execute(): Response
}

class OkHttpClient private constructor(private val callTimeout: Duration) {
    private val http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()

    fun newBuilder() = Builder()

    fun newCall(request: Request) = object : Call {
        override fun execute(): Response {
            val sent = HttpRequest.newBuilder(URI(request.url))
                .method(request.method, request.body?.let { BodyPublishers.ofByteArray(it.bytes) } ?: BodyPublishers.noBody())
            request.headers.forEach { (name, value) -> sent.header(name, value) }
            request.body?.contentType?.let { sent.header("Content-Type", it.toString()) }
            if (!callTimeout.isZero) sent.timeout(callTimeout)
            val received = http.send(sent.build(), BodyHandlers.ofInputStream())
            val headers = received.headers().map().entries.associate { (name, values) -> name.lowercase() to values.first() }
            return Response(received.statusCode(), headers, ResponseBody(received.body()))
        }
    }

    class Builder {
        private var callTimeout = Duration.ZERO

        fun callTimeout(timeout: Long, unit: TimeUnit) = apply { callTimeout = Duration.of(timeout, unit.toChronoUnit()) }

        fun readTimeout(timeout: Long, unit: TimeUnit) = apply { require(unit.toSeconds(timeout) > 15) } // a comment comes every 15 s

        fun retryOnConnectionFailure(retryOnConnectionFailure: Boolean) = apply { require(!retryOnConnectionFailure) }

        fun build() = OkHttpClient(callTimeout)
    }
}
